"""Weight norm: a direction of length one along all axes but one, times a magnitude."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from exporters.neuron.lowerings.base import Lowering

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]


def weight_norm(
    v: torch.Tensor, g: torch.Tensor, dim: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::_weight_norm_interface``: `v` times ``g / |v|``, and ``|v|``.

    Args:
        v: The direction.
        g: The magnitude, of size 1 along all axes but `dim`.
        dim: The first axis or the last.
    """
    import torch

    wide = torch.float32 if g.dtype == torch.bfloat16 else v.dtype
    squares = v.to(wide).square()
    # One axis after the other: a sum over no axes would be one over all.
    for axis in set(range(v.dim())) - {dim % v.dim()}:
        squares = squares.sum(axis, keepdim=True)
    norm = squares.sqrt()
    return v * (g / norm.to(g.dtype)), norm


LOWERINGS: Final = (
    Lowering(
        op="aten::_weight_norm_interface",
        function=weight_norm,
        summary="Squares are added up along the other axes, and the root divides.",
        source="Salimans and Kingma 2016, arXiv:1602.07868, equation 2",
    ),
)
