"""Index outputs that differ where equal values leave the choice open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

__all__ = ["describe_tie"]


def describe_tie(
    eager: Any,
    exported: Any,
    agreeing: Mapping[str, Any],
    sources: Mapping[str, Any],
) -> str | None:
    """Say that two index tensors point at equal values, when that can be seen.

    Backends order equal values differently (argmax, topk, cummax, sort), and a reader must be
    able to tell that from wrong indices. It stays a mismatch either way.

    Args:
        eager: Eager's leaf.
        exported: The exported leaf, of the same shape and dtype.
        agreeing: Output leaves on which both sides agree, by path.
        sources: Input leaves, by path.
    """
    if not _are_indices(eager):
        return None
    beside = {p: leaf for p, leaf in agreeing.items() if _may_be_pointed_at(leaf, eager)}
    for name, source in [*sources.items(), *agreeing.items()]:
        for axis in _axes(source, eager):
            if _gathers_alike(source, axis, eager, exported, beside):
                where = f"axis {axis} of `{name}`" if axis is not None else f"`{name}`"
                return f"a tie: the values that both gather from {where} agree"
    for name, values in beside.items():
        if _repeats_where(values, eager != exported):
            return f"a tie: `{name}` agrees and holds equal values there"
    if beside:
        return f"the values beside it (`{next(iter(beside))}`) agree, so it may be a tie"
    return None


def _are_indices(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.dtype in (torch.int64, torch.int32)


def _may_be_pointed_at(leaf: torch.Tensor, indices: torch.Tensor) -> bool:
    """Whether a leaf may be the values beside indices; two bools repeat wherever they stand."""
    return leaf.shape == indices.shape and leaf.dtype != torch.bool


def _axes(source: Any, indices: torch.Tensor) -> Iterator[int | None]:
    """The axes of `source` that `indices` may run along; None where they are flat."""
    if not isinstance(source, torch.Tensor) or source.dtype == torch.bool:
        return
    if not indices.dim() and source.dim() > 1:
        yield None
    for axis in range(source.dim()):
        others = [*source.shape[:axis], *source.shape[axis + 1 :]]
        kept = [*indices.shape[:axis], *indices.shape[axis + 1 :]]
        if others in (list(indices.shape), kept if indices.dim() == source.dim() else None):
            yield axis


def _repeats_where(values: torch.Tensor, places: torch.Tensor) -> bool:
    """Whether each value at `places` occurs more than once along the last axis."""
    if not values.dim():
        return False
    values, places = values.detach().cpu(), places.cpu()
    counts = (values[..., None] == values[..., None, :]).sum(-1)
    return bool((counts[places] > 1).all())


def _gathers_alike(
    source: torch.Tensor,
    axis: int | None,
    eager: torch.Tensor,
    exported: torch.Tensor,
    beside: Mapping[str, Any],
) -> bool:
    """Whether both gather the same; of integers also what stands beside the indices.

    Integer inputs such as masks hold few values, so that any two indices may gather alike.
    """
    left, right = _gather(source, axis, eager), _gather(source, axis, exported)
    if left is None or right is None or not torch.equal(left, right):
        return False
    return source.is_floating_point() or any(
        left.dtype == values.dtype and torch.equal(left, values) for values in beside.values()
    )


def _gather(source: torch.Tensor, axis: int | None, indices: torch.Tensor) -> torch.Tensor | None:
    source, indices = source.detach().cpu(), indices.detach().cpu().long()
    if axis is None:
        source, axis = source.flatten(), 0
    reduced = indices.dim() < source.dim()
    indices = indices.unsqueeze(axis) if reduced else indices
    if not indices.numel() or indices.min() < 0 or indices.max() >= source.shape[axis]:
        return None
    gathered = source.gather(axis, indices)
    return gathered.squeeze(axis) if reduced else gathered
