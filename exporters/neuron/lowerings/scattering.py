"""Writes to places that data choose, of which a static graph can hold all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from exporters.neuron.lowerings.base import Lowering
from exporters.neuron.lowerings.parts import broadcast, count_up, take

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]


def masked_scatter(self: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """``aten::masked_scatter``: the elements of `source`, in order, where `mask` is true.

    Where there are fewer elements than true places, which eager refuses, the last one is repeated.
    """
    target, mask = broadcast(self, mask)
    if not source.numel():
        return target.clone()
    index = (count_up(mask) - 1).clamp(0, source.numel() - 1)
    chosen = take(source.flatten(), 0, index)
    return chosen.where(mask, target)


def index_put(
    self: torch.Tensor,
    indices: Sequence[torch.Tensor | None],
    values: torch.Tensor,
    accumulate: bool = False,
) -> torch.Tensor:
    """``aten::index_put`` with one mask: ``x[mask] = values``, however many places are true."""
    import torch

    axis, mask = _only(indices)
    trailing = self.dim() - axis - mask.dim()
    at = values.dim() - trailing - 1
    if at >= 0:
        # The axis of the true places becomes those of all places.
        rows = (count_up(mask) - 1).clamp(0, max(values.shape[at] - 1, 0))
        if not values.shape[at]:
            return self.clone()
        values = take(values, at, rows)
    there = mask.reshape(*mask.shape, *[1] * trailing)
    return torch.where(there, self + values if accumulate else values, self)


def _only(indices: Sequence[torch.Tensor | None]) -> tuple[int, torch.Tensor]:
    return next((axis, index) for axis, index in enumerate(indices) if index is not None)


def _covers_index_put(
    self: torch.Tensor, indices: Sequence[torch.Tensor | None], values: torch.Tensor, *_: object
) -> bool:
    import torch

    given = [index for index in indices if index is not None]
    return len(given) == 1 and given[0].dtype == torch.bool and given[0].dim() > 0


def scatter_reduce(
    self: torch.Tensor,
    dim: int,
    index: torch.Tensor,
    src: torch.Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> torch.Tensor:
    """``aten::scatter_reduce.two``: all elements of `src` that `index` sends to one place, as one.

    Sums and means are scattered; products and extrema compare every place with every element.
    """
    import torch

    start = self
    counts = torch.zeros_like(self, dtype=torch.long).scatter_add(
        dim, index, torch.ones_like(index)
    )
    if not include_self:
        start = self.masked_fill(counts > 0, _neutral(self.dtype, reduce))
    if reduce not in ("sum", "mean"):
        return _compared(start, dim, index, src, reduce)
    total = start.scatter_add(dim, index, src)
    if reduce == "sum":
        return total
    return _divided(total, (counts + int(include_self)).clamp(min=1).to(self.dtype))


def _covers_scatter_reduce(
    self: torch.Tensor,
    dim: int,
    index: torch.Tensor,
    src: torch.Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> bool:
    return self.dim() > 0 and index.numel() > 0 and self.numel() > 0


def _divided(total: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    if total.is_floating_point():
        return total / counts
    return total.div(counts, rounding_mode="floor")


def _compared(
    start: torch.Tensor, dim: int, index: torch.Tensor, src: torch.Tensor, reduce: str
) -> torch.Tensor:
    """A product or an extremum over the elements that are sent to each place."""
    import torch

    places = torch.arange(start.shape[dim], device=start.device)
    moved = start.movedim(dim, -1)
    index = index.movedim(dim, -1)
    src = src.movedim(dim, -1)[tuple(slice(0, size) for size in index.shape)]
    # Along the other axes `index` may be shorter; nothing is sent to what is behind it.
    missing = [size - given for size, given in zip(moved.shape, index.shape, strict=True)][:-1]
    padding = [0, 0, *(amount for size in reversed(missing) for amount in (0, size))]
    sent = torch.nn.functional.pad(index, padding, value=-1).unsqueeze(-2) == places[:, None]
    spread = torch.nn.functional.pad(src, padding).unsqueeze(-2)
    neutral = torch.full((), _neutral(src.dtype, reduce), dtype=src.dtype, device=src.device)
    chosen = spread.where(sent, neutral)
    if reduce == "prod":
        merged = moved * chosen.prod(-1).to(moved.dtype)
    elif reduce == "amax":
        merged = moved.maximum(chosen.amax(-1))
    else:
        merged = moved.minimum(chosen.amin(-1))
    return merged.movedim(-1, dim)


def _neutral(dtype: torch.dtype, reduce: str) -> float | int:
    """What changes nothing when it is reduced with other values."""
    import torch

    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    if dtype.is_floating_point:
        return -torch.inf if reduce == "amax" else torch.inf
    if dtype == torch.bool:
        return int(reduce == "amin")
    limits = torch.iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


LOWERINGS: Final = (
    Lowering(
        op="aten::masked_scatter",
        function=masked_scatter,
        summary="Each true place takes the element of its number; places may move between runs.",
        source="pytorch.org/docs/stable/generated/torch.Tensor.masked_scatter_.html",
        # torch_xla's own kernel counts the true places while tracing.
        replaces=True,
    ),
    Lowering(
        op="aten::index_put",
        function=index_put,
        covers=_covers_index_put,
        summary="A mask chooses between the values, each at its place, and what was there.",
        source="pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html",
    ),
    Lowering(
        op="aten::scatter_reduce.two",
        function=scatter_reduce,
        covers=_covers_scatter_reduce,
        summary="Sums are scattered; products and extrema compare places with elements.",
        source="pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce_.html",
    ),
)
