"""A report in few words: sections of one line a group of cases, what is read first first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from testing.faults import readable
from testing.reports.case import ReportedCase
from testing.reports.group import Group
from testing.reports.report import Report
from testing.results import Outcome

__all__ = ["Section", "columns_of", "duration", "percent", "sections", "sentence"]

_MOST_LINES: Final = 30
_MOST_NAMES: Final = 4
_MOST_FIGURES: Final = 10
_MOST_SAID: Final = 300


@dataclass(frozen=True)
class Section:
    """A heading and its lines.

    Attributes:
        title: With the number of cases.
        lines: Each with whom it is about, which may be empty, and what is said.
        left_out: How many lines there are more.
    """

    title: str
    lines: Sequence[tuple[str, str]]
    left_out: int = 0


def sections(report: Report) -> list[Section]:
    """The sections that have something to say."""
    parts = [
        *_against(report),
        _of_groups(report, "failing, by cause", report.failures),
        _of_groups(report, "limits of a runtime, no pass", report.runtime_limits),
        _section("failed, then not", _flaky(report)),
        _section("tolerance nearly used", _nearly_used(report)),
        _section("slowest", _slowest(report)),
        _section("about the results themselves", (("", note) for note in report.notes)),
    ]
    return [part for part in parts if part.lines]


def columns_of(report: Report) -> Mapping[str, Mapping[Outcome, int]]:
    """How the cases of each column ended, and all of them where there are several columns."""
    columns: dict[str, dict[Outcome, int]] = {}
    for case in sorted(report.cases, key=lambda case: case.column):
        counted = columns.setdefault(case.column, {})
        counted[case.result.outcome] = counted.get(case.result.outcome, 0) + 1
    return columns if len(columns) == 1 else {**columns, "all": report.totals}


def sentence(text: str) -> str:
    """A text that begins a page."""
    return text[:1].upper() + text[1:]


def percent(share: float) -> str:
    """A share of a tolerance."""
    return f"{share:.0%}" if share < 100 else f"{share:.3g} times"


def duration(seconds: float) -> str:
    """Seconds as they are read: with a digit below a minute."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if seconds >= 60 else f"{seconds:.1f} s"


def _against(report: Report) -> Iterator[Section]:
    if report.comparison:
        yield _section("versions differ", report.comparison.versions.items())
    for kind, groups in report.changes():
        yield _of_groups(report, kind.value, groups)


def _of_groups(report: Report, title: str, groups: Sequence[Group[ReportedCase]]) -> Section:
    count = sum(len(group.cases) for group in groups)
    lines = ((_named(report, group.cases), group.said) for group in groups)
    return _section(f"{title} ({count:,})", lines)


def _named(report: Report, cases: Sequence[ReportedCase]) -> str:
    titles = [report.sweep.title_of(case) for case in cases[:_MOST_NAMES]]
    rest = len(cases) - len(titles)
    return ", ".join(titles) + (f" and {rest:,} more" if rest else "")


def _flaky(report: Report) -> Iterator[tuple[str, str]]:
    for case in report.flaky:
        tries = "; ".join(case.tries)
        yield report.sweep.title_of(case), f"{case.result.outcome.value} after: {tries}"


def _nearly_used(report: Report) -> Iterator[tuple[str, str]]:
    for case in report.nearly_used(_MOST_FIGURES):
        yield report.sweep.title_of(case), f"{percent(case.tolerance_used or 0.0)} used"


def _slowest(report: Report) -> Iterator[tuple[str, str]]:
    for case in report.slowest(_MOST_FIGURES):
        yield report.sweep.title_of(case), duration(case.seconds)


def _section(title: str, lines: Iterable[tuple[str, str]]) -> Section:
    found = [(_line(subject), _line(said)) for subject, said in lines]
    return Section(title, found[:_MOST_LINES], max(0, len(found) - _MOST_LINES))


def _line(text: str) -> str:
    return " ".join(readable(text, _MOST_SAID).split())
