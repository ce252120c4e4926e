"""YOLOS' interpolated position embeddings, computed before the trace."""

from __future__ import annotations

from collections.abc import Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import PatchNotCoveredError, Target, TracePatch, set_buffer

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["YOLOS"]

_MODELING: Final = "transformers.models.yolos.modeling_yolos"
_Size = tuple[int, int]


def find(model: nn.Module) -> list[nn.Module]:
    """The modules that have position embeddings and an interpolation of them."""
    return [module for module in model.modules() if _embeddings_name(module)]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Interpolate for every image size among `inputs`, by the module's own code."""
    for module in modules:
        interpolation: Any = module.interpolation
        name = _embeddings_name(module)
        assert name is not None
        # Transformers 5 keeps those of the encoder in the interpolation, which needs no argument.
        given = () if hasattr(interpolation, name) else (getattr(module, name),)
        for size in _image_sizes(inputs, interpolation.config.num_channels):
            set_buffer(interpolation, _buffer(size), _interpolated(interpolation, *given, size))
        # On the instance, and as a bound method: a deep copy then uses its own buffers.
        interpolation.forward = MethodType(_forward, interpolation)


def _embeddings_name(module: nn.Module) -> str | None:
    """The parameter that the module's interpolation is for, if it has one."""
    from transformers.models.yolos import modeling_yolos as yolos

    interpolation = getattr(module, "interpolation", None)
    if isinstance(interpolation, yolos.InterpolateInitialPositionEmbeddings):
        return "position_embeddings"
    if isinstance(interpolation, yolos.InterpolateMidPositionEmbeddings):
        return "mid_position_embeddings"
    return None


def _interpolated(interpolation: nn.Module, *arguments: Any) -> torch.Tensor:
    import torch

    with torch.no_grad():
        value: torch.Tensor = type(interpolation).forward(interpolation, *arguments)
    return value


def _image_sizes(inputs: Any, channels: int) -> list[_Size]:
    """Height and width in pixels of every image batch (batch, channels, height, width)."""
    from exporters.tree import tensor_leaves

    shapes = [tuple(leaf.shape) for leaf in tensor_leaves(inputs).values()]
    sizes = {shape[2:]: None for shape in shapes if len(shape) == 4 and shape[1] == channels}
    if not sizes:
        raise PatchNotCoveredError(
            f"trace patch yolos: no input is an image batch of {channels} channels, so the size "
            f"to interpolate to is unknown; the inputs have shapes {shapes}. "
            "Give trace_patches the inputs of the trace."
        )
    return list(sizes)


def _buffer(size: _Size) -> str:
    return f"interpolated_{size[0]}x{size[1]}"


def _forward(
    interpolation: nn.Module, *arguments: Any, img_size: _Size = (800, 1344)
) -> torch.Tensor:
    # The size comes last, where it is given; the default is transformers' own.
    size = arguments[-1] if arguments and not _is_tensor(arguments[-1]) else img_size
    value = interpolation._buffers.get(_buffer((int(size[0]), int(size[1]))))
    if value is None:
        raise PatchNotCoveredError(
            f"trace patch yolos: position embeddings for an image of {tuple(size)} are asked "
            f"for, and only {', '.join(interpolation._buffers)} exist. "
            "Give trace_patches the inputs of the trace."
        )
    return value


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


YOLOS: Final = TracePatch(
    name="yolos",
    summary="Position embeddings are interpolated before the trace, to the inputs' image size.",
    targets=(
        Target(f"{_MODELING}:InterpolateInitialPositionEmbeddings.forward", ("interpolate",)),
        Target(f"{_MODELING}:InterpolateMidPositionEmbeddings.forward", ("interpolate",)),
        Target(
            f"{_MODELING}:YolosEmbeddings.forward", uses=("interpolation", "position_embeddings")
        ),
        Target(f"{_MODELING}:YolosEncoder.forward", uses=("interpolation",)),
    ),
    find=find,
    apply=apply,
    model_types=("yolos",),
)
