"""One leaf of an output, compared with eager's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from testing.comparison.elements import Elements, plain
from testing.comparison.figures import figures_of, largest
from testing.registry.entries import Tolerance
from testing.results import LeafMetrics

__all__ = ["LeafComparison", "compare_leaf", "holds_the_same"]


@dataclass(frozen=True)
class LeafComparison:
    """What comparing one leaf found.

    Attributes:
        metrics: Its figures; None where no elements could be compared.
        structural: Sentence about its kind, shape or dtype.
        numeric: Sentence about its values.
        note: What a reader must know and what fails nothing.
        constant: Whether eager's values are near-constant, or there are none.
    """

    metrics: LeafMetrics | None = None
    structural: str | None = None
    numeric: str | None = None
    note: str | None = None
    constant: bool = False


def compare_leaf(
    name: str,
    eager: Any,
    exported: Any,
    tolerance: Tolerance,
    mask: torch.Tensor | None = None,
) -> LeafComparison:
    """Compare one leaf; `testing.comparison.compare` says by which rules.

    Args:
        name: How sentences call it.
        eager: Eager's leaf, a tensor or not.
        exported: The exported leaf.
        tolerance: How far a floating leaf may be off.
        mask: bool with the leaf's leading axes, True where elements are compared.
    """
    if not (isinstance(eager, torch.Tensor) and isinstance(exported, torch.Tensor)):
        return _compare_objects(name, eager, exported, tolerance)
    mismatch = _layout_failure(name, eager, exported)
    if mismatch:
        return LeafComparison(structural=mismatch)
    if not eager.numel():
        metrics = LeafMetrics(0.0, 0.0, None, None, 0.0)
        return LeafComparison(
            metrics, note=f"`{name}` is empty: no elements compared", constant=True
        )
    return _compare_tensors(name, eager, exported, tolerance, mask)


def holds_the_same(left: Any, right: Any, tolerance: Tolerance) -> bool:
    """Whether two tensors agree in layout and values and hold more than one value."""
    if not (isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor)):
        return False
    found = compare_leaf("", left, right, tolerance)
    return not (found.structural or found.numeric or found.constant)


def _compare_objects(name: str, eager: Any, exported: Any, tolerance: Tolerance) -> LeafComparison:
    """Compare leaves of which at least one is no tensor; floats follow the tolerance."""
    if type(eager) is not type(exported):
        told = f"`{name}` is {_kind(exported)} where eager has {_kind(eager)}"
        return LeafComparison(structural=told)
    if isinstance(eager, float):
        pair = [torch.tensor(value, dtype=torch.float64) for value in (eager, exported)]
        return LeafComparison(
            numeric=_compare_tensors(name, pair[0], pair[1], tolerance, None).numeric
        )
    if isinstance(eager, (bool, int, str, bytes)) and eager != exported:
        return LeafComparison(numeric=f"`{name}` is {exported!r} where eager has {eager!r}")
    return LeafComparison()


def _kind(leaf: Any) -> str:
    if isinstance(leaf, torch.Tensor):
        return f"a tensor {_shape(leaf)} of {_dtype(leaf.dtype)}"
    return "None" if leaf is None else f"a {type(leaf).__name__}"


def _shape(leaf: torch.Tensor) -> str:
    return str(tuple(leaf.shape))


def _dtype(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _layout_failure(name: str, eager: torch.Tensor, exported: torch.Tensor) -> str | None:
    parts = []
    if eager.dim() != exported.dim():
        parts.append(f"rank {exported.dim()} where eager has {eager.dim()}")
    if eager.shape != exported.shape:
        parts.append(f"shape {_shape(exported)} where eager has {_shape(eager)}")
    if eager.dtype != exported.dtype:
        parts.append(f"dtype {_dtype(exported.dtype)} where eager has {_dtype(eager.dtype)}")
    return f"`{name}` has {' and '.join(parts)}" if parts else None


def _compare_tensors(
    name: str,
    eager: torch.Tensor,
    exported: torch.Tensor,
    tolerance: Tolerance,
    mask: torch.Tensor | None,
) -> LeafComparison:
    eager, exported = plain(eager), plain(exported)
    elements = Elements.of(eager, exported, tolerance, mask)
    tolerated = tolerance.mismatch if eager.is_floating_point() else 0.0
    fails = bool(elements.special.any()) or elements.mismatched > tolerated
    return LeafComparison(
        metrics=figures_of(elements),
        numeric=_value_failure(name, eager, exported, elements) if fails else None,
        note=_leaf_note(name, eager, elements),
        constant=elements.is_constant,
    )


def _value_failure(
    name: str, eager: torch.Tensor, exported: torch.Tensor, elements: Elements
) -> str:
    """One sentence that names the worst element of a leaf, and its figures."""
    worst = elements.worst
    position = int(elements.positions[worst])
    index = _index(position, eager.shape)
    wrong, total = int(elements.wrong.sum()), elements.eager.numel()
    metrics = figures_of(elements)
    return (
        f"`{name}` differs at {index}: {_figure(exported.flatten()[position])} "
        f"where eager has {_figure(eager.flatten()[position])}, "
        f"allowed {float(elements.allowed[worst]):.3g} "
        f"({wrong} of {total} elements; max abs {metrics.max_abs:.3g}, "
        f"max rel {metrics.max_rel:.3g}, scale {_scale_of(elements):.3g})"
    )


def _index(position: int, shape: torch.Size) -> list[int]:
    """Index of a flat position. ``torch.unravel_index`` imports sympy, for seconds per child."""
    index = []
    for size in reversed(shape):
        position, along_axis = divmod(position, size)
        index.append(along_axis)
    return index[::-1]


def _scale_of(elements: Elements) -> float:
    return largest(elements.eager.abs()[elements.eager.isfinite()])


def _figure(value: torch.Tensor) -> str:
    """A value with enough digits to tell it from its neighbour."""
    item = value.item()
    return f"{item:.9g}" if isinstance(item, float) else str(item)


def _leaf_note(name: str, eager: torch.Tensor, elements: Elements) -> str | None:
    parts = []
    if len(elements.positions) < eager.numel():
        parts.append("positions that the inputs' mask leaves out are not compared")
    if elements.is_constant:
        parts.append("eager is near-constant, so agreeing with it proves nothing")
    return f"`{name}`: {' and '.join(parts)}" if parts else None
