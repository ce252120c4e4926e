"""What a report tells of a sweep, before it is written as text, Markdown, HTML or XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from testing.reports.case import ReportedCase
from testing.reports.cause import shared_cause_of, without_figures
from testing.reports.changes import Change, Comparison, Kind
from testing.reports.group import Group, grouped
from testing.reports.sweep import Conflict, Sweep
from testing.reports.wording import headline
from testing.results import Outcome

__all__ = ["NEARLY_USED", "Report"]

NEARLY_USED: Final = 0.5
"""From this share on of its tolerance, a case that passes is told."""


@dataclass(frozen=True)
class Report:
    """A sweep, and what it is held against.

    Attributes:
        sweep: What ran.
        comparison: With an earlier sweep; None where there is none.
    """

    sweep: Sweep
    comparison: Comparison | None = None

    @cached_property
    def cases(self) -> Sequence[ReportedCase]:
        """Every case, in order."""
        return list(self.sweep.cases.values())

    @cached_property
    def totals(self) -> Mapping[Outcome, int]:
        """How many cases ended in what."""
        counted = Counter(case.result.outcome for case in self.cases)
        return {outcome: counted[outcome] for outcome in Outcome if counted[outcome]}

    @cached_property
    def failures(self) -> Sequence[Group[ReportedCase]]:
        """The failing cases, those of one cause together whatever the model."""
        failing = [(case, headline(case.result)) for case in self.cases if case.fails]
        return grouped(failing, by=lambda case, _: shared_cause_of(case.result))

    @cached_property
    def runtime_limits(self) -> Sequence[Group[ReportedCase]]:
        """Cases, or components of them, that a runtime could not run; those of one limit together.

        The same limit is one whatever the component and the figures that the runtime names.
        """
        told = [(case, reason) for case in self.cases for reason in case.runtime_limits]
        return grouped(told, by=lambda _, said: without_figures(said))

    @property
    def flaky(self) -> Sequence[ReportedCase]:
        """Cases that failed and then did not."""
        return [case for case in self.cases if case.is_flaky]

    @property
    def knows_tolerances(self) -> bool:
        """Whether any result tells how much of its tolerance was used."""
        return any(case.tolerance_used is not None for case in self.cases)

    def nearly_used(self, most: int) -> Sequence[ReportedCase]:
        """Cases that pass with little of their tolerance left, the least first."""
        shares = {
            case.key: share
            for case in self.cases
            if case.passed and (share := case.tolerance_used) is not None and share >= NEARLY_USED
        }
        return [
            self.sweep.cases[key] for key in sorted(shares, key=lambda key: -shares[key])[:most]
        ]

    def slowest(self, most: int) -> Sequence[ReportedCase]:
        """The cases that took the longest, the longest first."""
        took = [case for case in self.cases if case.seconds > 0]
        return sorted(took, key=lambda case: -case.seconds)[:most]

    @property
    def verdict(self) -> str:
        """What a person reads first."""
        if self.comparison is None:
            return self.failing
        against = ", ".join(self.comparison.before.directories)
        told = [
            f"{len(changes)} {kind.value}"
            for kind in Kind
            if kind in self.comparison.regressions and (changes := self.comparison.of_kind(kind))
        ]
        if not told:
            return f"no regressions against {against}; {self.failing}"
        return f"regressions against {against}: {', '.join(told)}; {self.failing}"

    @property
    def failing(self) -> str:
        """How many cases fail, of how many causes."""
        count = sum(len(group.cases) for group in self.failures)
        if not count:
            return f"none of {len(self.cases):,} cases fails"
        causes = len(self.failures)
        of_causes = f", of {causes} cause{'' if causes == 1 else 's'}"
        return f"{count:,} of {len(self.cases):,} cases fail{of_causes}"

    def changes(self) -> Sequence[tuple[Kind, Sequence[Group[ReportedCase]]]]:
        """The changes of each kind that there are, those of one cause together."""
        if self.comparison is None:
            return []
        found = [(kind, _grouped(kind, self.comparison.of_kind(kind))) for kind in Kind]
        return [(kind, groups) for kind, groups in found if groups]

    @property
    def notes(self) -> Sequence[str]:
        """What is wrong with the results themselves."""
        sweep = self.sweep
        notes = [f"{name} holds no result" for name in sweep.empty]
        notes += [f"a line that holds no result: {line}" for line in sweep.damaged]
        notes += map(self._conflict, sweep.conflicts)
        return notes

    def _conflict(self, conflict: Conflict) -> str:
        told = "; ".join(f"{name}: {said}" for name, said in conflict.told)
        title = self.sweep.title_of(conflict.kept)
        return f"{title} ended differently, the last written counts: {told}"

    def to_dict(self) -> dict[str, Any]:
        """The report for programs."""
        sweep = self.sweep
        return {
            "directories": list(sweep.directories),
            "verdict": self.verdict,
            "totals": {outcome.value: count for outcome, count in self.totals.items()},
            "versions": dict(sweep.versions),
            "failures": _groups_dict(self.failures),
            "runtime_limits": _groups_dict(self.runtime_limits),
            "notes": list(self.notes),
            "against": self.comparison and _comparison_dict(self.comparison),
        }


def _groups_dict(groups: Sequence[Group[ReportedCase]]) -> list[dict[str, Any]]:
    return [
        {"said": group.said, "cases": [case.result.case_id for case in group.cases]}
        for group in groups
    ]


def _grouped(kind: Kind, changes: Iterable[Change]) -> list[Group[ReportedCase]]:
    told = ((change.case, change.said) for change in changes)
    if kind in (Kind.SLOWER, Kind.WORSE):
        return grouped(told, by=lambda _, said: said)
    return grouped(told, by=lambda _, said: without_figures(said))


def _comparison_dict(comparison: Comparison) -> dict[str, Any]:
    return {
        "directories": list(comparison.before.directories),
        "versions": dict(comparison.versions),
        "changes": [
            {
                "kind": change.kind.value,
                "regression": change.kind in comparison.regressions,
                "case_id": change.case.result.case_id,
                "column": change.case.column,
                "said": change.said,
            }
            for change in comparison.changes
        ],
    }
