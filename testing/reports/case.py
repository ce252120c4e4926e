"""One case as a report shows it: its latest result, its components, and earlier tries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeAlias

from testing.faults import readable
from testing.reports.names import column_of, engine_of
from testing.reports.wording import headline
from testing.results import CaseResult, Outcome

__all__ = ["CaseKey", "ReportedCase", "cases_of"]

CaseKey: TypeAlias = tuple[str, str]
"""Case id and engine: one test runs on `neuronx` here and on `xla` there."""


@dataclass(frozen=True)
class ReportedCase:
    """One case.

    Attributes:
        result: How it ended; of several components the row that sums them up.
        components: The rows of its components, by name.
        earlier: Results that the latest one replaces, oldest first.
    """

    result: CaseResult
    components: tuple[CaseResult, ...] = ()
    earlier: tuple[CaseResult, ...] = ()

    @property
    def key(self) -> CaseKey:
        """What makes it the same case in another sweep."""
        return self.result.case_id, engine_of(self.result)

    @property
    def rows(self) -> tuple[CaseResult, ...]:
        """The row of the case itself, then those of its components."""
        return (self.result, *(row for row in self.components if row is not self.result))

    @property
    def fails(self) -> bool:
        """Whether it keeps the run from success."""
        return self.result.outcome.is_failure

    @property
    def passed(self) -> bool:
        """Whether it equals eager."""
        return self.result.outcome is Outcome.PASSED

    @property
    def is_flaky(self) -> bool:
        """Whether it failed before it did not, with nothing changed that it rests on."""
        alike = (row for row in self.earlier if _basis(row) == _basis(self.result))
        failed = any(row.outcome.is_failure for row in alike)
        return not self.fails and (failed or self.result.is_flaky)

    @property
    def tries(self) -> list[str]:
        """How each try before the last one ended, oldest first."""
        return [*map(headline, self.earlier), *self.result.deaths]

    @property
    def runtime_limits(self) -> list[str]:
        """What its runtime could not run, each once, of the case or of its components."""
        limited = (row for row in self.components or self.rows if row.is_runtime_limit)
        return list(dict.fromkeys(row.reason or "" for row in limited))

    @property
    def seconds(self) -> float:
        """All stages together."""
        return self.result.total_seconds

    @property
    def max_abs(self) -> float | None:
        """The largest difference from eager; None where nothing was compared."""
        return _worst(leaf.max_abs for row in self.rows for leaf in row.metrics.values())

    @property
    def tolerance_used(self) -> float | None:
        """The largest share of its tolerance that a leaf used; None where that is not known."""
        used = (leaf.tolerance_used for row in self.rows for leaf in row.metrics.values())
        return _worst(share for share in used if share is not None)

    @property
    def column(self) -> str:
        """Engine and variant, ``neuron/xla static``."""
        return readable(column_of(self.result))

    @property
    def area(self) -> str:
        """The area that the file of its test stands for, ``text_encoders``; empty without one."""
        file = PurePath(self.result.case_id.partition("::")[0])
        return readable(file.stem.removeprefix("test_")) if file.suffix == ".py" else ""


def _basis(row: CaseResult) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Under another, as after an update or with other patches, what fails no more was mended."""
    return row.versions, row.conditions


def cases_of(
    results: Iterable[CaseResult], attempts: Iterable[CaseResult]
) -> dict[CaseKey, ReportedCase]:
    """The cases of one directory, in the order in which they were written.

    Args:
        results: The latest row of every case and component.
        attempts: Every row.
    """
    rows: dict[CaseKey, list[CaseResult]] = {}
    for result in results:
        rows.setdefault((result.case_id, engine_of(result)), []).append(result)
    latest = set(map(id, (row for of_case in rows.values() for row in of_case)))
    earlier: dict[CaseKey, list[CaseResult]] = {}
    for row in attempts:
        if row.component is None and id(row) not in latest:
            earlier.setdefault((row.case_id, engine_of(row)), []).append(row)
    return {key: _case(of_case, earlier.get(key, [])) for key, of_case in rows.items()}


def _case(rows: list[CaseResult], earlier: list[CaseResult]) -> ReportedCase:
    components = sorted((row for row in rows if row.component), key=lambda r: r.component or "")
    whole = next((row for row in rows if row.component is None), None)
    # A run that was cut within a case has rows of components and none that sums them up.
    result = whole or next((row for row in components if row.outcome.is_failure), components[0])
    return ReportedCase(result, tuple(components), tuple(earlier))


def _worst(values: Iterable[float]) -> float | None:
    """The largest value, NaN before all others; None of none."""
    found = list(values)
    return next((value for value in found if math.isnan(value)), max(found, default=None))
