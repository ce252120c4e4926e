"""The outputs of eager and of an exported model, compared leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from exporters.tree import leaves
from testing.comparison.figures import worse
from testing.comparison.leaf import LeafComparison, compare_leaf, holds_the_same
from testing.comparison.ties import describe_tie
from testing.registry.entries import Tolerance
from testing.results import LeafMetrics

__all__ = ["Comparison", "compare", "worst"]


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
    outputs = _Outputs(leaves(eager), leaves(exported), tolerance)
    found = outputs.compare_leaves(masks or {})
    return Comparison(
        metrics={_label(path): leaf.metrics for path, leaf in found.items() if leaf.metrics},
        structural=tuple(outputs.structural(found)),
        numeric=tuple(outputs.numeric(found, sources or {})),
        notes=tuple(outputs.notes(found)),
        constant=frozenset(_label(path) for path, leaf in found.items() if leaf.constant),
    )


def worst(comparisons: Iterable[Comparison]) -> dict[str, LeafMetrics]:
    """For each leaf the worst of every figure over several comparisons."""
    merged: dict[str, LeafMetrics] = {}
    for comparison in comparisons:
        for leaf, metrics in comparison.metrics.items():
            merged[leaf] = worse(merged[leaf], metrics) if leaf in merged else metrics
    return merged


def _label(path: str) -> str:
    """How a leaf is called; a model that returns a bare tensor has a leaf without a name."""
    return path or "output"


@dataclass(frozen=True)
class _Outputs:
    """The leaves of both outputs by path, and the tolerance they are held to."""

    eager: Mapping[str, Any]
    exported: Mapping[str, Any]
    tolerance: Tolerance

    def compare_leaves(self, masks: Mapping[str, torch.Tensor]) -> dict[str, LeafComparison]:
        """What comparing each leaf found that both outputs have, in eager's order."""
        return {
            path: compare_leaf(
                _label(path), leaf, self.exported[path], self.tolerance, masks.get(path)
            )
            for path, leaf in self.eager.items()
            if path in self.exported
        }

    def structural(self, found: Mapping[str, LeafComparison]) -> Iterator[str]:
        """Sentences about names, then layouts, then that there is no tensor at all."""
        yield from self._name_failures()
        for path, leaf in found.items():
            if leaf.structural:
                yield leaf.structural + self._taken_for(path)
        if not any(isinstance(leaf, torch.Tensor) for leaf in self.eager.values()):
            yield "eager's output holds no tensor, so nothing was compared"

    def numeric(
        self, found: Mapping[str, LeafComparison], sources: Mapping[str, Any]
    ) -> Iterator[str]:
        """Sentences about values, each with what explains it where that can be seen."""
        for path, leaf in found.items():
            if leaf.numeric:
                yield leaf.numeric + (self._taken_for(path) or self._tie(path, found, sources))

    def notes(self, found: Mapping[str, LeafComparison]) -> Iterator[str]:
        """That the leaves come in another order, then the notes of each."""
        order = [path for path in self.exported if path in found]
        if order != list(found):
            names = ", ".join(_label(path) for path in order)
            yield f"the leaves come in another order than eager's: {names}"
        yield from (leaf.note for leaf in found.values() if leaf.note)

    def _name_failures(self) -> Iterator[str]:
        missing = [path for path in self.eager if path not in self.exported]
        for path in missing:
            yield f"`{_label(path)}` is missing"
        for path in self.exported:
            if path not in self.eager:
                twin = self._original_of(path, missing)
                renamed = f"; it holds what `{_label(twin)}` should" if twin is not None else ""
                yield f"`{_label(path)}` is no leaf of eager{renamed}"

    def _taken_for(self, path: str) -> str:
        """Names the leaf of eager whose values the exported leaf holds instead of its own."""
        other = self._original_of(path, (other for other in self.eager if other != path))
        return (
            f"; `{_label(path)}` holds what `{_label(other)}` should" if other is not None else ""
        )

    def _original_of(self, path: str, candidates: Iterable[str]) -> str | None:
        """The first of eager's leaves whose values the exported leaf at `path` holds."""
        mine, tolerance = self.exported[path], self.tolerance
        return next(
            (c for c in candidates if holds_the_same(self.eager[c], mine, tolerance)), None
        )

    def _tie(
        self, path: str, found: Mapping[str, LeafComparison], sources: Mapping[str, Any]
    ) -> str:
        agreeing = {
            p: self.eager[p] for p, leaf in found.items() if leaf.metrics and not leaf.numeric
        }
        tie = describe_tie(self.eager[path], self.exported[path], agreeing, sources)
        return f"; {tie}" if tie else ""
