"""ConvBert's unfold, spelled with ops that have a lowering."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import PatchNotCoveredError, Target, TracePatch
from exporters.neuron.patches.replacing import replace_in

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["CONVBERT", "UnfoldNotCoveredError", "unfold"]

_Pair = int | Sequence[int]


class UnfoldNotCoveredError(PatchNotCoveredError):
    """Arguments of ``torch.nn.functional.unfold`` that the replacement does not cover."""


def unfold(
    input: torch.Tensor,
    kernel_size: _Pair,
    dilation: _Pair = 1,
    padding: _Pair = 0,
    stride: _Pair = 1,
) -> torch.Tensor:
    """``torch.nn.functional.unfold`` for windows that slide along the height alone.

    It only moves data, so its result is that of im2col bit for bit.

    Args:
        input: Floating point, of shape (batch, channels, height, width).
        kernel_size: (k, 1).
        dilation: 1 both ways.
        padding: (p, 0), rows of zeros above and below.
        stride: 1 both ways.

    Returns:
        Tensor of shape (batch, channels * k, rows * width), with rows = height + 2 p - k + 1.

    Raises:
        UnfoldNotCoveredError: Any other arguments; the message says which.
    """
    import torch

    refused = list(_not_covered(input, kernel_size, dilation, padding, stride))
    if refused:
        raise UnfoldNotCoveredError(
            f"trace patch convbert does not cover unfold with {'; '.join(refused)}. "
            "Trace with the patch off, or extend exporters/neuron/patches/convbert.py."
        )
    window, pad = _pair(kernel_size)[0], _pair(padding)[0]
    batch, channels, height, width = input.shape
    rows = height + 2 * pad - window + 1
    padded = torch.nn.functional.pad(input, (0, 0, pad, pad))
    slices = [padded[:, :, start : start + rows] for start in range(window)]
    return torch.stack(slices, dim=2).reshape(batch, channels * window, rows * width)


def _not_covered(
    input: torch.Tensor, kernel_size: _Pair, dilation: _Pair, padding: _Pair, stride: _Pair
) -> Iterator[str]:
    """Each reason for which the replacement does not apply."""
    for name, value in (
        ("kernel_size", kernel_size),
        ("dilation", dilation),
        ("padding", padding),
        ("stride", stride),
    ):
        if len(_pair(value)) != 2:
            yield f"{name}={value}, which is no pair"
            return
    yield from _window_not_covered(_pair(kernel_size), _pair(padding))
    if _pair(dilation) != (1, 1):
        yield f"dilation={dilation}"
    if _pair(stride) != (1, 1):
        yield f"stride={stride}"
    yield from _input_not_covered(input, _pair(kernel_size)[0] - 2 * _pair(padding)[0])


def _window_not_covered(kernel: tuple[int, ...], padding: tuple[int, ...]) -> Iterator[str]:
    if kernel[1] != 1:
        yield f"a kernel of width {kernel[1]}"
    if kernel[0] < 1:
        yield f"a kernel of height {kernel[0]}"
    if padding[1] != 0:
        yield f"padding of the width by {padding[1]}"
    if padding[0] < 0:
        yield f"padding of the height by {padding[0]}"


def _input_not_covered(input: torch.Tensor, least_height: int) -> Iterator[str]:
    if not input.is_floating_point():
        yield f"an input of {input.dtype}"
    if input.dim() != 4:
        yield f"an input of {input.dim()} dimensions"
    elif 0 in input.shape[1:]:
        yield f"an empty input of shape {tuple(input.shape)}"
    elif input.shape[2] < least_height:
        yield f"a window higher than the padded input of shape {tuple(input.shape)}"


def _pair(value: _Pair) -> tuple[int, ...]:
    return (value, value) if isinstance(value, int) else tuple(value)


def find(model: nn.Module) -> list[nn.Module]:
    """ConvBert's self-attention modules."""
    from transformers.models.convbert.modeling_convbert import ConvBertSelfAttention

    return [module for module in model.modules() if isinstance(module, ConvBertSelfAttention)]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Let the forward of these modules, and nothing else, use the replacement."""
    for module in modules:
        replace_in(module, "forward", _replacements)


def _replacements() -> dict[Any, Callable[..., Any]]:
    import torch

    return {torch.nn.functional.unfold: unfold}


CONVBERT: Final = TracePatch(
    name="convbert",
    summary="The self-attention's unfold is done as pad, slice, stack and reshape.",
    targets=(
        Target(
            "transformers.models.convbert.modeling_convbert:ConvBertSelfAttention.forward",
            uses=("unfold",),
        ),
        # Without this hand-over the mode would never see the call.
        Target("torch.nn.functional:unfold", uses=("handle_torch_function", "im2col")),
    ),
    find=find,
    apply=apply,
    model_types=("convbert",),
)
