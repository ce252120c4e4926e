"""Figures of a compared leaf, and the worse of two."""

from __future__ import annotations

import torch

from testing.comparison.elements import Elements
from testing.results import LeafMetrics

__all__ = ["figures_of", "largest", "worse"]


def figures_of(elements: Elements) -> LeafMetrics:
    """The figures of a leaf; the correlations are of the elements that both sides have finite."""
    nonzero = elements.eager.isfinite() & (elements.eager != 0)
    relative = elements.difference[nonzero] / elements.eager[nonzero].abs()
    finite = elements.eager.isfinite() & elements.exported.isfinite()
    eager, exported = elements.eager[finite], elements.exported[finite]
    return LeafMetrics(
        max_abs=largest(elements.difference),
        max_rel=largest(relative),
        cosine=_cosine(eager, exported),
        pearson=_pearson(eager, exported),
        mismatched=elements.mismatched,
        tolerance_used=_used(elements),
    )


def worse(one: LeafMetrics, other: LeafMetrics) -> LeafMetrics:
    """The worse of each figure."""
    return LeafMetrics(
        max_abs=max(one.max_abs, other.max_abs),
        max_rel=max(one.max_rel, other.max_rel),
        cosine=_smaller(one.cosine, other.cosine),
        pearson=_smaller(one.pearson, other.pearson),
        mismatched=max(one.mismatched, other.mismatched),
        tolerance_used=_larger(one.tolerance_used, other.tolerance_used),
    )


def largest(values: torch.Tensor) -> float:
    """The largest value; 0 of none."""
    return float(values.max()) if values.numel() else 0.0


def _used(elements: Elements) -> float | None:
    """The largest share of its allowance that a difference takes; None where none is allowed."""
    allowing = elements.allowed > 0
    if not bool(allowing.any()):
        return None
    return largest(elements.difference[allowing] / elements.allowed[allowing])


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


def _larger(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return max(known, default=None)


def _smaller(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return min(known, default=None)
