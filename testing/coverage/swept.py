"""Outcomes of a sweep by class and column, read from its results directories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from testing import journal
from testing.coverage.errors import NoResultsError
from testing.reports.names import column_of
from testing.results import CaseResult, Outcome

__all__ = ["outcomes_of"]

# Where several tests export one class, that of the worst counts: a pass hides no failure.
_BEST_FIRST: Final = (
    Outcome.PASSED,
    Outcome.EXPORTED,
    Outcome.XFAILED,
    Outcome.NOT_APPLICABLE,
    Outcome.SKIPPED,
    Outcome.XPASSED,
    Outcome.TIMEOUT,
    Outcome.FAILED,
    Outcome.CRASHED,
)


def outcomes_of(directories: Iterable[str | Path]) -> Mapping[str, Mapping[str, Outcome]]:
    """For each model class the outcome in each column, such as ``neuron/xla static``.

    Args:
        directories: Results of runs; a case of a later one replaces that of an earlier one.

    Raises:
        NoResultsError: There is no such directory.
    """
    cases: dict[tuple[str, str], CaseResult] = {}
    for directory in directories:
        for result in _read(directory):
            if result.component is None:
                cases[result.case_id, column_of(result)] = result
    found: dict[str, dict[str, Outcome]] = {}
    for result in cases.values():
        columns = found.setdefault(result.model_class, {})
        columns[column_of(result)] = _worse(columns.get(column_of(result)), result.outcome)
    return found


def _read(directory: str | Path) -> list[CaseResult]:
    try:
        return journal.read(directory)
    except FileNotFoundError as error:
        raise NoResultsError(str(error)) from error


def _worse(one: Outcome | None, other: Outcome) -> Outcome:
    return other if one is None else max(one, other, key=_BEST_FIRST.index)
