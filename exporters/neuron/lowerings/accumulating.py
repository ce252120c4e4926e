"""Sums along an axis of what is not summed in its own dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.lowerings.base import Lowering

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]


def cumsum(self: torch.Tensor, dim: int, *, dtype: torch.dtype | None = None) -> torch.Tensor:
    """``aten::cumsum`` of bool, which is int64."""
    import torch

    return self.to(torch.int64).cumsum(dim, dtype=dtype)


def _covers(self: torch.Tensor, dim: int, **named: Any) -> bool:
    import torch

    return self.dtype == torch.bool


LOWERINGS: Final = (
    Lowering(
        op="aten::cumsum",
        function=cumsum,
        covers=_covers,
        summary="Bool is made int64 first; torch_xla's sums stay bool.",
        source="pytorch.org/docs/stable/generated/torch.cumsum.html",
        replaces=True,
    ),
)
