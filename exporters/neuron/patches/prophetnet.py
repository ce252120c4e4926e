"""ProphetNet's diagonals, filled without a view of its own strides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import PatchNotCoveredError, Target, TracePatch
from exporters.neuron.patches.replacing import replace_in

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["PROPHETNET", "DiagonalNotCoveredError", "fill_diagonal_"]


class DiagonalNotCoveredError(PatchNotCoveredError):
    """Arguments of ``Tensor.fill_diagonal_`` that the replacement does not cover."""


def fill_diagonal_(tensor: torch.Tensor, fill_value: float, wrap: bool = False) -> torch.Tensor:
    """``Tensor.fill_diagonal_`` of a matrix.

    Torch fills a view whose offset counts from the start of the storage. Of a matrix within a
    larger tensor, a trace has the matrix and not the storage (``setStorage: sizes [128], strides
    [129], storage offset 16384 … are out of bounds``).

    Args:
        tensor: Of shape (rows, columns); changed in place.
        fill_value: What the diagonal gets.
        wrap: Whether the diagonal begins again in a matrix higher than wide; not covered.

    Raises:
        DiagonalNotCoveredError: `tensor` is no matrix, or `wrap` is true.
    """
    import torch

    if tensor.dim() != 2 or wrap:
        raise DiagonalNotCoveredError(
            f"trace patch prophetnet does not cover fill_diagonal_ of shape {tuple(tensor.shape)} "
            f"with wrap={wrap}. Extend exporters/neuron/patches/prophetnet.py."
        )
    rows = torch.arange(tensor.shape[0], device=tensor.device)[:, None]
    columns = torch.arange(tensor.shape[1], device=tensor.device)
    return tensor.masked_fill_(rows == columns, fill_value)


def find(model: nn.Module) -> list[nn.Module]:
    """The decoders that make a mask for predicted tokens."""
    name = "prepare_predict_attention_mask"
    return [module for module in model.modules() if hasattr(type(module), name)]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Let the forward of these modules, and nothing else, use the replacement."""
    for module in modules:
        replace_in(module, "forward", _replacements)


def _replacements() -> dict[Any, Callable[..., Any]]:
    import torch

    return {torch.Tensor.fill_diagonal_: fill_diagonal_}


PROPHETNET: Final = TracePatch(
    name="prophetnet",
    summary="The diagonals of the masks for predicted tokens are filled by comparing indices.",
    targets=(
        # XLM-ProphetNet's, which transformers 5 no longer has, is a copy.
        Target(
            "transformers.models.prophetnet.modeling_prophetnet:ngram_attention_bias",
            uses=("fill_diagonal_",),
        ),
    ),
    find=find,
    apply=apply,
    mentions=("fill_diagonal_",),
    requires="transformers<5",
)
