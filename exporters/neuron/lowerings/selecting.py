"""Selections whose size depends on data: the size is evaluated while tracing, nothing else is.

For other inputs the graph then selects again, up to that many elements: it is right for all inputs
that select as many, and a comparison on fresh inputs tells where they do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from exporters.neuron.lowerings.base import Lowering, evaluate
from exporters.neuron.lowerings.parts import broadcast, count_up, take

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]

_MASKS: Final = "pytorch.org/docs/stable/generated/torch.nonzero.html"


def nonzero(self: torch.Tensor) -> torch.Tensor:
    """``aten::nonzero``: the places of what is not zero, one row each, in row-major order."""
    mask = self.bool()
    return nonzero_static(mask, size=int(evaluate(mask.sum())), fill_value=0)


def nonzero_static(self: torch.Tensor, *, size: int, fill_value: int = -1) -> torch.Tensor:
    """``aten::nonzero_static``: the first `size` of these places, filled up with `fill_value`."""
    import torch

    places = _places(self.bool(), size)
    index, axes = places.clamp(min=0), []
    for length in reversed(self.shape):
        axes.append((index % max(length, 1)).where(places >= 0, fill_value))
        index = index.div(max(length, 1), rounding_mode="floor")
    return torch.stack(axes[::-1], 1) if axes else places.new_zeros(size, 0)


def masked_select(self: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """``aten::masked_select``: the elements where `mask` is true, in row-major order."""
    values, mask = broadcast(self, mask)
    places = _places(mask, int(evaluate(mask.sum())))
    return take(values.flatten(), 0, places.clamp(min=0))


def _places(mask: torch.Tensor, size: int) -> torch.Tensor:
    """Flat places of the first `size` true elements; -1 behind the last one."""
    import torch

    if not mask.numel():
        return torch.full((size,), -1, dtype=torch.long, device=mask.device)
    # All others go to a slot behind the end, which is cut off.
    slots = (count_up(mask) - 1).where(mask, size).clamp(max=size).flatten()
    places = torch.arange(mask.numel(), device=mask.device)
    empty = torch.full((size + 1,), -1, dtype=torch.long, device=mask.device)
    return empty.scatter(0, slots, places)[:size]


def unique_consecutive(
    self: torch.Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """``aten::unique_consecutive`` of all elements: the first of each run, and what is asked for.

    Returns:
        The elements; for each element of `self` the number of its run; the lengths of the runs.
    """
    import torch

    values = self.flatten()
    starts = torch.nn.functional.pad(values[1:] != values[:-1], (1, 0), value=True)
    places = _places(starts, int(evaluate(starts.sum())))
    run = (starts.long().cumsum(0) - 1).reshape(self.shape)
    ends = torch.nn.functional.pad(places[1:], (0, 1), value=values.numel())
    nothing = run.new_zeros(0)
    return (
        take(values, 0, places.clamp(min=0)),
        run if return_inverse else nothing,
        ends - places if return_counts else nothing,
    )


def unique2(
    self: torch.Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """``aten::_unique2``: the distinct elements in ascending order, and what is asked for."""
    import torch

    ordered, order = self.flatten().sort()
    values, run, counts = unique_consecutive(ordered, return_inverse, return_counts)
    if return_inverse:
        run = torch.zeros_like(run).scatter(0, order, run).reshape(self.shape)
    return values, run, counts


def repeat_interleave(repeats: torch.Tensor, *, output_size: int | None = None) -> torch.Tensor:
    """``aten::repeat_interleave.Tensor``: the number i as often as ``repeats[i]`` says."""
    import torch

    size = int(evaluate(repeats.sum())) if output_size is None else output_size
    ends = repeats.cumsum(0)
    passed = torch.arange(size, device=repeats.device)[:, None] >= ends
    return passed.sum(1).clamp(max=max(repeats.numel() - 1, 0)).to(repeats.dtype)


def _covers_whole(
    self: torch.Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> bool:
    return dim is None and self.numel() > 0


def _covers_unique(self: torch.Tensor, *_: object, **__: object) -> bool:
    return self.numel() > 0


LOWERINGS: Final = (
    Lowering(
        op="aten::nonzero",
        function=nonzero,
        summary="The number of places is evaluated; the places are computed in the graph.",
        source=_MASKS,
    ),
    Lowering(
        op="aten::nonzero_static",
        function=nonzero_static,
        summary="Each place is scattered to its number among the places.",
        source="pytorch.org/docs/stable/generated/torch.nonzero_static.html",
    ),
    Lowering(
        op="aten::masked_select",
        function=masked_select,
        summary="The number of elements is evaluated; they are gathered from their places.",
        source=_MASKS,
    ),
    Lowering(
        op="aten::unique_consecutive",
        function=unique_consecutive,
        covers=_covers_whole,
        summary="The number of runs is evaluated; their elements are gathered.",
        source="pytorch.org/docs/stable/generated/torch.unique_consecutive.html",
    ),
    Lowering(
        op="aten::_unique2",
        function=unique2,
        covers=_covers_unique,
        summary="Sorted, and of each run of equal elements the first.",
        source="pytorch.org/docs/stable/generated/torch.unique.html",
    ),
    Lowering(
        op="aten::repeat_interleave.Tensor",
        function=repeat_interleave,
        summary="The sum is evaluated unless it is given; each place is compared with the ends.",
        source="pytorch.org/docs/stable/generated/torch.repeat_interleave.html",
    ),
)
