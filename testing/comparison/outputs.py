"""The outputs of eager and of an exported model, compared leaf by leaf."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch

from exporters.tree import leaves
from testing.comparison.ties import describe_tie
from testing.registry.entries import Tolerance
from testing.results import LeafMetrics

__all__ = ["CONSTANT_STD", "Comparison", "allowance", "compare", "leaf_scale", "worst"]

CONSTANT_STD: Final = 1e-6
"""Standard deviation over elements under which an eager leaf proves nothing."""

_ROUNDINGS: Final = 16
_FILL: Final = 1e30
_BULK: Final = 32.0


@dataclass(frozen=True)
class Comparison:
    """What comparing two outputs found.

    Attributes:
        metrics: Figures of each compared leaf.
        structural: Sentences about names, shapes, dtypes and missing tensors.
        numeric: Sentences about values.
        notes: What a reader must know and what fails nothing.
        constant: Compared leaves whose eager values are near-constant, or that are empty.
    """

    metrics: dict[str, LeafMetrics]
    structural: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    constant: frozenset[str] = frozenset()

    @property
    def failures(self) -> tuple[str, ...]:
        """Every sentence that fails the comparison, structure first."""
        return self.structural + self.numeric

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    @property
    def proves_nothing(self) -> bool:
        """Whether every compared leaf is near-constant or empty in eager."""
        return bool(self.metrics) and self.constant == frozenset(self.metrics)


@dataclass(frozen=True)
class _Leaf:
    """What comparing one leaf found."""

    metrics: LeafMetrics | None = None
    structural: str | None = None
    numeric: str | None = None
    note: str | None = None
    constant: bool = False


def compare(
    eager: Any,
    exported: Any,
    tolerance: Tolerance,
    masks: Mapping[str, torch.Tensor] | None = None,
    sources: Mapping[str, Any] | None = None,
) -> Comparison:
    """Compare the output of an exported model with eager's.

    Leaves must agree in name, shape and dtype, both ways, and shapes are checked before values,
    so that nothing broadcasts. Keys of a mapping may come in another order; a leaf that holds
    the values of another one is named with it. Integer and bool leaves agree exactly, in their
    own dtype. NaN is allowed only where eager has NaN, infinities only with eager's sign; the
    tolerance's share of mismatches covers neither these nor integers. ``None`` matches ``None``
    only. Two outputs without any tensor do not agree. Floating leaves follow `allowance`.

    Args:
        eager: Output of the model.
        exported: Output of the exported model.
        tolerance: How far a floating leaf may be off.
        masks: By leaf path, a bool tensor with the leaf's leading axes, True where its
            elements are compared (see ``testing/comparison/masks.py``).
        sources: Inputs that indices in the output may point into, to tell ties.
    """
    left, right, masks = leaves(eager), leaves(exported), masks or {}
    shared = [path for path in left if path in right]
    found = {
        path: _compare_leaf(_label(path), left[path], right[path], tolerance, masks.get(path))
        for path in shared
    }
    return Comparison(
        metrics={_label(p): leaf.metrics for p, leaf in found.items() if leaf.metrics},
        structural=(
            *_name_failures(left, right, tolerance),
            *(
                leaf.structural + _taken_for(path, left, right, tolerance)
                for path, leaf in found.items()
                if leaf.structural
            ),
            *_no_tensors(left),
        ),
        numeric=tuple(
            leaf.numeric
            + (
                _taken_for(path, left, right, tolerance)
                or _tie(path, left, right, found, sources or {})
            )
            for path, leaf in found.items()
            if leaf.numeric
        ),
        notes=(*_order_note(shared, right), *(leaf.note for leaf in found.values() if leaf.note)),
        constant=frozenset(_label(p) for p, leaf in found.items() if leaf.constant),
    )


def worst(comparisons: Iterable[Comparison]) -> dict[str, LeafMetrics]:
    """For each leaf the worst of every figure over several comparisons."""
    merged: dict[str, LeafMetrics] = {}
    for comparison in comparisons:
        for leaf, metrics in comparison.metrics.items():
            merged[leaf] = _worse(merged[leaf], metrics) if leaf in merged else metrics
    return merged


def leaf_scale(eager: torch.Tensor) -> float:
    """The scale of a leaf: its largest finite absolute value, fill values left out.

    Scores that a model masks out hold -1e9 or the dtype's lowest value, which must not stretch
    the allowance of the others. So nothing beyond 1e30 counts, and the scale is at most 32
    times the tenth percentile of the absolute values that are not zero: Gaussian values have a
    ratio of about 30, and uniform ones of 10.
    """
    sizes = eager.abs()
    sizes = sizes[torch.isfinite(sizes) & (sizes > 0) & (sizes < _FILL)]
    if not sizes.numel():
        return 0.0
    tenth = sizes.kthvalue(max(1, sizes.numel() // 10)).values
    return min(float(sizes.max()), _BULK * float(tenth))


def allowance(eager: torch.Tensor, dtype: torch.dtype, tolerance: Tolerance) -> torch.Tensor:
    """How far each element may be from eager, in float64.

    With `scale` the largest finite ``|eager|`` of the leaf, an element may be off by
    ``max(floor, atol * min(1, scale)) + rtol * |eager|``. An absolute tolerance so never exceeds
    a leaf whose values are all small, and each leaf has its own. The floor is what rounding
    alone explains, since values that cancel may be small and their errors are not:
    ``16 * eps * max(1, leaf_scale)`` with float32's eps (float64's for float64), and for dtypes
    below float32 also ``2 * eps(dtype) * max(leaf_scale, |eager|)``, which is relative, so that
    small values of a bfloat16 softmax do not vanish under an absolute tolerance.

    Args:
        eager: Values of the leaf in float64.
        dtype: Real dtype of the leaf.
        tolerance: The case's tolerance.
    """
    sizes = torch.where(torch.isfinite(eager), eager.abs(), 0.0)
    largest = float(sizes.max()) if sizes.numel() else 0.0
    bulk = leaf_scale(eager)
    wide = dtype if torch.finfo(dtype).bits == 64 else torch.float32
    floor = torch.full_like(eager, _ROUNDINGS * torch.finfo(wide).eps * max(1.0, bulk))
    if torch.finfo(dtype).bits < 32:
        floor += 2 * torch.finfo(dtype).eps * sizes.clamp(min=bulk)
    return floor.clamp(min=tolerance.atol * min(1.0, largest)) + tolerance.rtol * sizes


def _label(path: str) -> str:
    """How a leaf is called; a model that returns a bare tensor has a leaf without a name."""
    return path or "output"


def _name_failures(
    left: Mapping[str, Any], right: Mapping[str, Any], tolerance: Tolerance
) -> list[str]:
    missing = [path for path in left if path not in right]
    extra = [path for path in right if path not in left]
    failures = [f"`{_label(path)}` is missing" for path in missing]
    for path in extra:
        twin = next((m for m in missing if _same(left[m], right[path], tolerance)), None)
        renamed = f"; it holds what `{_label(twin)}` should" if twin is not None else ""
        failures.append(f"`{_label(path)}` is no leaf of eager{renamed}")
    return failures


def _no_tensors(left: Mapping[str, Any]) -> list[str]:
    if any(isinstance(leaf, torch.Tensor) for leaf in left.values()):
        return []
    return ["eager's output holds no tensor, so nothing was compared"]


def _order_note(shared: list[str], right: Mapping[str, Any]) -> list[str]:
    order = [path for path in right if path in set(shared)]
    if order == shared:
        return []
    names = ", ".join(_label(path) for path in order)
    return [f"the leaves come in another order than eager's: {names}"]


def _compare_leaf(
    name: str,
    eager: Any,
    exported: Any,
    tolerance: Tolerance,
    mask: torch.Tensor | None = None,
) -> _Leaf:
    if not (isinstance(eager, torch.Tensor) and isinstance(exported, torch.Tensor)):
        return _compare_objects(name, eager, exported, tolerance)
    mismatch = _layout_failure(name, eager, exported)
    if mismatch:
        return _Leaf(structural=mismatch)
    if not eager.numel():
        metrics = LeafMetrics(0.0, 0.0, None, None, 0.0)
        return _Leaf(metrics, note=f"`{name}` is empty: no elements compared", constant=True)
    return _compare_tensors(name, eager, exported, tolerance, mask)


def _compare_objects(name: str, eager: Any, exported: Any, tolerance: Tolerance) -> _Leaf:
    """Compare leaves of which at least one is no tensor; floats follow the tolerance."""
    if type(eager) is not type(exported):
        told = f"`{name}` is {_kind(exported)} where eager has {_kind(eager)}"
        return _Leaf(structural=told)
    if isinstance(eager, float):
        pair = [torch.tensor(value, dtype=torch.float64) for value in (eager, exported)]
        return _Leaf(numeric=_compare_tensors(name, pair[0], pair[1], tolerance, None).numeric)
    if isinstance(eager, (bool, int, str, bytes)) and eager != exported:
        return _Leaf(numeric=f"`{name}` is {exported!r} where eager has {eager!r}")
    return _Leaf()


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


@dataclass(frozen=True)
class _Elements:
    """The compared elements of two leaves of one layout, flat.

    Attributes:
        eager: Eager's values in float64.
        exported: The exported model's values in float64.
        difference: Absolute differences in float64; infinite where one value is not finite.
        allowed: How far each may be off.
        special: Where a NaN or infinity is not matched.
        positions: Flat positions in the leaf.
    """

    eager: torch.Tensor
    exported: torch.Tensor
    difference: torch.Tensor
    allowed: torch.Tensor
    special: torch.Tensor
    positions: torch.Tensor

    @property
    def wrong(self) -> torch.Tensor:
        return self.special | (self.difference > self.allowed)


def _compare_tensors(
    name: str,
    eager: torch.Tensor,
    exported: torch.Tensor,
    tolerance: Tolerance,
    mask: torch.Tensor | None,
) -> _Leaf:
    eager, exported = _plain(eager), _plain(exported)
    positions = _compared_positions(eager, mask)
    left, right = eager.flatten(), exported.flatten()
    if mask is not None:
        left, right = left[positions], right[positions]
    exact = not eager.is_floating_point()
    elements = (_exact if exact else _within)(left, right, positions, tolerance)
    tolerated = 0.0 if exact else tolerance.mismatch
    fails = bool(elements.special.any()) or _share(elements) > tolerated
    constant = _is_constant(elements.eager)
    return _Leaf(
        metrics=_metrics(elements),
        numeric=_value_failure(name, eager, exported, elements) if fails else None,
        note=_leaf_note(name, eager, positions, constant),
        constant=constant,
    )


def _is_constant(eager: torch.Tensor) -> bool:
    """Whether several elements hold one value, or none holds a finite one.

    One element alone has no spread; agreeing with it says as much as one number can.
    """
    finite = eager[eager.isfinite()]
    if not finite.numel():
        return True
    return eager.numel() > 1 and float(finite.std(correction=0)) < CONSTANT_STD


def _plain(leaf: torch.Tensor) -> torch.Tensor:
    """A dense real tensor on the CPU; a complex one gets a last axis of two."""
    leaf = leaf.detach().cpu()
    leaf = leaf if leaf.layout == torch.strided else leaf.to_dense()
    return torch.view_as_real(leaf.resolve_conj()) if leaf.is_complex() else leaf


def _compared_positions(leaf: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    if mask is None:
        return torch.arange(leaf.numel())
    trailing = [1] * (leaf.dim() - mask.dim())
    return mask.reshape(*mask.shape, *trailing).expand(leaf.shape).flatten().nonzero()[:, 0]


def _exact(
    left: torch.Tensor, right: torch.Tensor, positions: torch.Tensor, _: Tolerance
) -> _Elements:
    """Elements of an integer or bool leaf, compared in their own dtype.

    Differences are floats for the figures only: above 2**53 two integers can share one float64,
    and then differ by at least one.
    """
    eager, exported = left.double(), right.double()
    difference = torch.where(left != right, (eager - exported).abs().clamp(min=1.0), 0.0)
    nothing = torch.zeros_like(difference)
    return _Elements(eager, exported, difference, nothing, nothing.bool(), positions)


def _within(
    left: torch.Tensor, right: torch.Tensor, positions: torch.Tensor, tolerance: Tolerance
) -> _Elements:
    """Elements of a floating leaf."""
    eager, exported = left.double(), right.double()
    finite = eager.isfinite() & exported.isfinite()
    matched = (eager.isnan() & exported.isnan()) | (eager == exported)
    special = ~finite & ~matched
    difference = torch.where(finite, (eager - exported).abs(), 0.0)
    difference = torch.where(special, math.inf, difference)
    allowed = allowance(eager, left.dtype, tolerance)
    return _Elements(eager, exported, difference, allowed, special, positions)


def _share(elements: _Elements) -> float:
    return int(elements.wrong.count_nonzero()) / elements.wrong.numel()


def _metrics(elements: _Elements) -> LeafMetrics:
    nonzero = elements.eager.isfinite() & (elements.eager != 0)
    relative = elements.difference[nonzero] / elements.eager[nonzero].abs()
    finite = elements.eager.isfinite() & elements.exported.isfinite()
    eager, exported = elements.eager[finite], elements.exported[finite]
    return LeafMetrics(
        max_abs=_largest(elements.difference),
        max_rel=_largest(relative),
        cosine=_cosine(eager, exported),
        pearson=_pearson(eager, exported),
        mismatched=_share(elements),
    )


def _largest(values: torch.Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0


def _cosine(left: torch.Tensor, right: torch.Tensor) -> float | None:
    """Cosine similarity; None where a norm is zero. Scaled first, so that nothing overflows."""
    if not left.numel():
        return None
    sizes = float(left.abs().max()), float(right.abs().max())
    if min(sizes) == 0:
        return None
    left, right = left / sizes[0], right / sizes[1]
    return float((left @ right) / (left.norm() * right.norm()))


def _pearson(left: torch.Tensor, right: torch.Tensor) -> float | None:
    """Pearson correlation; None where a side is constant but for the mean's rounding."""
    if not left.numel():
        return None
    centred = [values - values.mean() for values in (left, right)]
    for values, rest in zip((left, right), centred, strict=True):
        if float(rest.abs().max()) <= 1e-12 * float(values.abs().max()):
            return None
    return _cosine(*centred)


def _value_failure(
    name: str, eager: torch.Tensor, exported: torch.Tensor, elements: _Elements
) -> str:
    """One sentence that names the worst element of a leaf, and its figures."""
    excess = torch.where(elements.special, math.inf, elements.difference - elements.allowed)
    worst_of_all = int(excess.argmax())
    position = int(elements.positions[worst_of_all])
    index = _index(position, eager.shape)
    wrong, total = int(elements.wrong.sum()), elements.eager.numel()
    metrics = _metrics(elements)
    return (
        f"`{name}` differs at {index}: {_figure(exported.flatten()[position])} "
        f"where eager has {_figure(eager.flatten()[position])}, "
        f"allowed {float(elements.allowed[worst_of_all]):.3g} "
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


def _scale_of(elements: _Elements) -> float:
    return _largest(elements.eager.abs()[elements.eager.isfinite()])


def _figure(value: torch.Tensor) -> str:
    """A value with enough digits to tell it from its neighbour."""
    item = value.item()
    return f"{item:.9g}" if isinstance(item, float) else str(item)


def _leaf_note(
    name: str, eager: torch.Tensor, positions: torch.Tensor, constant: bool
) -> str | None:
    parts = []
    if len(positions) < eager.numel():
        parts.append("positions that the inputs' mask leaves out are not compared")
    if constant:
        parts.append("eager is near-constant, so agreeing with it proves nothing")
    return f"`{name}`: {' and '.join(parts)}" if parts else None


def _taken_for(
    path: str, left: Mapping[str, Any], right: Mapping[str, Any], tolerance: Tolerance
) -> str:
    """Names the leaf of eager whose values the exported leaf holds instead of its own."""
    for other, value in left.items():
        if other != path and _same(value, right[path], tolerance):
            return f"; `{_label(path)}` holds what `{_label(other)}` should"
    return ""


def _tie(
    path: str,
    left: Mapping[str, Any],
    right: Mapping[str, Any],
    found: Mapping[str, _Leaf],
    sources: Mapping[str, Any],
) -> str:
    agreeing = {p: left[p] for p, leaf in found.items() if leaf.metrics and not leaf.numeric}
    tie = describe_tie(left[path], right[path], agreeing, sources)
    return f"; {tie}" if tie else ""


def _same(left: Any, right: Any, tolerance: Tolerance) -> bool:
    """Whether two tensors agree in layout and values and hold more than one value."""
    if not (isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor)):
        return False
    leaf = _compare_leaf("", left, right, tolerance)
    return not (leaf.structural or leaf.numeric or leaf.constant)


def _worse(one: LeafMetrics, other: LeafMetrics) -> LeafMetrics:
    return LeafMetrics(
        max_abs=max(one.max_abs, other.max_abs),
        max_rel=max(one.max_rel, other.max_rel),
        cosine=_smaller(one.cosine, other.cosine),
        pearson=_smaller(one.pearson, other.pearson),
        mismatched=max(one.mismatched, other.mismatched),
    )


def _smaller(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return min(known, default=None)
