"""How far the outputs are from eager: cases by the size of their largest difference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from testing.faults import readable
from testing.reports.case import ReportedCase
from testing.reports.names import engine_of
from testing.reports.report import Report

__all__ = ["Bar", "Histogram", "histograms"]

_LOWEST: Final = -10
_HIGHEST: Final = 3
_PER_DECADE: Final = 2
_EXACT: Final = "0"
_SPECIAL: Final = "∞"


@dataclass(frozen=True)
class Bar:
    """Cases of one size of difference.

    Attributes:
        label: What stands on the axis; empty between two decades.
        title: From where to where, and how many.
        passed: Cases that pass.
        others: Cases that do not.
    """

    label: str
    title: str
    passed: int
    others: int


@dataclass(frozen=True)
class Histogram:
    """The cases of one engine.

    Attributes:
        engine: Backend and runtime.
        bars: Those without a difference first, then by size, then NaN and infinities.
    """

    engine: str
    bars: Sequence[Bar]

    @property
    def tallest(self) -> int:
        """Cases of the tallest bar."""
        return max(bar.passed + bar.others for bar in self.bars)


def histograms(report: Report) -> list[Histogram]:
    """One of each engine of which anything was compared."""
    by_engine: dict[str, list[ReportedCase]] = {}
    for case in report.cases:
        if case.max_abs is not None:
            by_engine.setdefault(readable(engine_of(case.result)), []).append(case)
    return [Histogram(engine, _bars(cases)) for engine, cases in sorted(by_engine.items())]


def _bars(cases: Sequence[ReportedCase]) -> list[Bar]:
    counted = Counter((_step(case.max_abs or 0.0), case.passed) for case in cases)
    steps: list[int | str] = [_EXACT, *_steps(counted), _SPECIAL]
    shown = [
        step for step in steps if step != _SPECIAL or counted[step, False] or counted[step, True]
    ]
    return [_bar(step, counted[step, True], counted[step, False]) for step in shown]


def _steps(counted: Counter[tuple[int | str, bool]]) -> list[int]:
    """The steps from the smallest to the largest that has a case, in whole decades."""
    found = [step for step, _ in counted if isinstance(step, int)]
    if not found:
        return []
    first = min(found) // _PER_DECADE * _PER_DECADE
    last = max(found) // _PER_DECADE * _PER_DECADE + _PER_DECADE
    return list(range(first, last))


def _step(size: float) -> int | str:
    """The half decade of a difference."""
    if not math.isfinite(size):
        return _SPECIAL
    if size <= 0:
        return _EXACT
    step = math.floor(math.log10(size) * _PER_DECADE)
    return min(max(step, _LOWEST * _PER_DECADE), _HIGHEST * _PER_DECADE)


def _bar(step: int | str, passed: int, others: int) -> Bar:
    counts = f"{passed} pass" + (f", {others} do not" if others else "")
    if isinstance(step, str):
        return Bar(step, f"{step}: {counts}", passed, others)
    exponent, is_between = divmod(step, _PER_DECADE)
    low, high = (10 ** (edge / _PER_DECADE) for edge in (step, step + 1))
    label = "" if is_between else f"1e{exponent}"
    return Bar(label, f"{low:.1e} to {high:.1e}: {counts}", passed, others)
