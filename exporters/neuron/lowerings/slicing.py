"""Slices whose bounds lie before the start of the axis, as `x[:, -63:]` of 16 elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.lowerings.base import Lowering

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]

_SOURCE: Final = "docs.python.org/3/library/functions.html#slice"
_Bound = int | None


def slice_copy(
    self: torch.Tensor, dim: int = 0, start: _Bound = None, end: _Bound = None, step: int = 1
) -> torch.Tensor:
    """``aten::slice_copy.Tensor`` with bounds within the axis."""
    import torch

    size = self.shape[dim]
    bounds = _within(start, size), _within(end, size)
    return torch.ops.aten.slice_copy.Tensor(self, dim, *bounds, step)  # type: ignore[no-any-return]


def slice_scatter(
    self: torch.Tensor,
    src: torch.Tensor,
    dim: int = 0,
    start: _Bound = None,
    end: _Bound = None,
    step: int = 1,
) -> torch.Tensor:
    """``aten::slice_scatter`` with bounds within the axis."""
    import torch

    size = self.shape[dim]
    return torch.slice_scatter(self, src, dim, _within(start, size), _within(end, size), step)


def _within(bound: _Bound, size: int) -> _Bound:
    return bound if bound is None or bound >= -size else 0


def _copy_covers(
    self: torch.Tensor, dim: int = 0, start: _Bound = None, end: _Bound = None, step: int = 1
) -> bool:
    size = self.shape[dim]
    return _within(start, size) != start or _within(end, size) != end


def _scatter_covers(self: torch.Tensor, src: torch.Tensor, *where: Any, **named: Any) -> bool:
    return _copy_covers(self, *where, **named)


LOWERINGS: Final = (
    Lowering(
        op="aten::slice_copy.Tensor",
        function=slice_copy,
        covers=_copy_covers,
        summary="A bound before the start of the axis is its start; torch_xla refuses it.",
        source=_SOURCE,
        replaces=True,
    ),
    Lowering(
        op="aten::slice_scatter",
        function=slice_scatter,
        covers=_scatter_covers,
        summary="A bound before the start of the axis is its start; torch_xla refuses it.",
        source=_SOURCE,
        replaces=True,
    ),
)
