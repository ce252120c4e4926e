"""For each variant of a model class: whether it runs, and which entries say so."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from exporters import get_backend
from testing.cases import ExportCase, cases_of
from testing.explain.history import Histories, History
from testing.registry import Entry, Registry
from testing.registry.skip_file import EXPORT_SKIPS, ONNX_DISABLE_OPTIMIZE, TOLERANCES
from testing.reports.names import column_of
from testing.results import CaseResult, Outcome
from testing.scopes import Scope

__all__ = ["Explanation", "VariantAnswer", "explain"]


@dataclass(frozen=True)
class VariantAnswer:
    """What the entries do to one case.

    Attributes:
        label: Engine and variant, ``neuron/xla static``.
        skipped_by: The entry that skips it, the broadest that applies; None where it runs.
        exact: Whether the comparison's figures can fail it.
        entries: All under its scopes, from broad to narrow, by table; also those whose ``when``
            does not hold here.
        not_applicable: Why the variant says nothing of any model; None where it does.
    """

    label: str
    skipped_by: Entry | None
    exact: bool
    entries: tuple[Entry, ...]
    not_applicable: str | None = None

    @property
    def runs(self) -> bool:
        """Whether the case is run at all."""
        return self.skipped_by is None and self.not_applicable is None

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if self.not_applicable:
            return "not applicable"
        if self.skipped_by:
            return "skipped"
        return "runs" if self.exact else "runs, figures cannot fail it"


@dataclass(frozen=True)
class Explanation:
    """Of one model class.

    Attributes:
        model_class: Its name.
        variants: Each of its cases.
        histories: Its entries, from broad to narrow, by table.
    """

    model_class: str
    variants: tuple[VariantAnswer, ...]
    histories: tuple[History, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "model_class": self.model_class,
            "variants": [
                {
                    "case": variant.label,
                    "runs": variant.runs,
                    "not_applicable": variant.not_applicable,
                    "exact": variant.exact,
                    "skipped_by": variant.skipped_by and str(variant.skipped_by.scope),
                    "entries": [_key(entry) for entry in variant.entries],
                }
                for variant in self.variants
            ],
            "entries": [history.to_dict() for history in self.histories],
        }


def _key(entry: Entry) -> dict[str, Any]:
    return {"table": entry.table, "scope": str(entry.scope), "line": entry.line}


def explain(model_class: str, histories: Histories, backends: Collection[str]) -> Explanation:
    """Say of each variant of a class whether it runs, and why not.

    Args:
        model_class: Its name, matched whole.
        histories: Of the file's entries.
        backends: Those that are asked for; none asks for all.
    """
    registry = histories.registry
    cases = [case for case in cases_of(model_class) if not backends or case.backend in backends]
    entries = [e for e in registry.entries if e.model_class == model_class]
    asked = [entry for entry in entries if _concerns(entry, backends)]
    return Explanation(
        model_class=model_class,
        variants=tuple(_answer(case, registry) for case in cases),
        histories=tuple(histories.of(entry) for entry in sorted(asked, key=_broad_first)),
    )


def _answer(case: ExportCase, registry: Registry) -> VariantAnswer:
    return VariantAnswer(
        label=column_of(CaseResult.of(case, "", Outcome.SKIPPED)),
        skipped_by=registry.skip_for(case),
        exact=registry.exactness_for(case) is None,
        entries=tuple(_about(case, registry)),
        not_applicable=get_backend(case.backend).not_applicable(case.as_variant),
    )


def _about(case: ExportCase, registry: Registry) -> Iterator[Entry]:
    yield from registry.about(case, EXPORT_SKIPS)
    yield from registry.about(case, EXPORT_SKIPS, exactness=True)
    yield from registry.about(case, TOLERANCES)
    yield from registry.about(case, ONNX_DISABLE_OPTIMIZE)


def _concerns(entry: Entry, backends: Collection[str]) -> bool:
    return not backends or any(entry.scope.meets(Scope(backend=name)) for name in backends)


def _broad_first(entry: Entry) -> tuple[str, bool, int, str]:
    scope = entry.scope
    return entry.table, scope.is_exactness, len(scope.facets), str(scope)
