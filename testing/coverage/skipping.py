"""Which entries of ``skips.py`` apply to which cases of a class."""

from __future__ import annotations

from dataclasses import dataclass

from testing.cases import cases_of
from testing.registry import Entry, Registry
from testing.registry.skip_file import EXPORT_SKIPS
from testing.reports.names import column_of
from testing.results import CaseResult, Outcome

__all__ = ["AppliedSkip", "skips_of"]


@dataclass(frozen=True)
class AppliedSkip:
    """An entry that applies to cases of a class.

    Attributes:
        scope: Its scope; one of ``exactness`` skips nothing.
        reason: Its reason.
        cases: The cases, such as ``neuron/xla static``.
    """

    scope: str
    reason: str
    cases: tuple[str, ...]


def skips_of(model_class: str, registry: Registry) -> tuple[AppliedSkip, ...]:
    """The entries that apply to a class, in the order of the file."""
    entries = [e for e in registry.entries if e.model_class == model_class]
    applied: dict[int, tuple[Entry, list[str]]] = {}
    for case in cases_of(model_class) if entries else ():
        label = column_of(CaseResult.of(case, "", Outcome.SKIPPED))
        for exactness in (False, True):
            for entry in registry.matches(case, EXPORT_SKIPS, exactness=exactness):
                applied.setdefault(entry.line, (entry, []))[1].append(label)
    return tuple(
        AppliedSkip(str(entry.scope), entry.reason, tuple(labels))
        for _, (entry, labels) in sorted(applied.items())
    )
