"""The page as text: the template, filled with what the report tells."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from testing.faults import MESSAGE_LIMIT, readable
from testing.reports.case import CaseKey, ReportedCase
from testing.reports.changes import Kind
from testing.reports.digest import duration, percent, sentence
from testing.reports.group import Group
from testing.reports.page.details import embedded
from testing.reports.page.histogram import histograms
from testing.reports.page.mark import MARKS
from testing.reports.page.matrix import Matrix
from testing.reports.report import Report

__all__ = ["MOST_BYTES", "render"]

MOST_BYTES: Final = 3_000_000
"""Beyond this a page is slow to open, and is made again with shorter messages."""

_LIMITS: Final = (MESSAGE_LIMIT, 1000, 250)
_MOST_LISTED: Final = 10


def render(report: Report) -> str:
    """The page; where messages are cut so that it opens quickly, it says so."""
    page = ""
    for limit in _LIMITS:
        page = _Page(report, limit).text()
        if len(page.encode()) < MOST_BYTES:
            break
    return page


@dataclass(frozen=True)
class _Link:
    """A case that a click opens."""

    number: int
    title: str


@dataclass(frozen=True)
class _Said:
    """What is said of some cases."""

    said: str
    links: Sequence[_Link]


class _Page:
    """One way to write a report, with messages of at most `limit` characters."""

    def __init__(self, report: Report, limit: int) -> None:
        self.report = report
        self.limit = limit
        changes = report.comparison.changes if report.comparison else ()
        # Those that are no more come after those that are.
        keys = dict.fromkeys([*report.sweep.cases, *(change.case.key for change in changes)])
        self.numbers: dict[CaseKey, int] = {key: number for number, key in enumerate(keys)}

    def text(self) -> str:
        """The page, with what its template asks for."""
        script = files(__package__).joinpath("page.js").read_text("utf-8")
        template = _environment().get_template("page.html")
        return template.render(
            policy=_policy(script),
            script=Markup(script),
            data=Markup(embedded(self.report, self.numbers, self.limit)),
            **self._context(),
        )

    def _context(self) -> dict[str, Any]:
        report, comparison = self.report, self.report.comparison
        failing = any(case.fails for case in report.cases)
        return {
            "report": report,
            "verdict": sentence(report.verdict),
            "is_bad": comparison.has_regressions if comparison else failing,
            "written": datetime.fromtimestamp(report.sweep.written, timezone.utc),
            "changes": [self._change(kind, found) for kind, found in report.changes()],
            "failures": self._groups(report.failures),
            "runtime_limits": self._groups(report.runtime_limits),
            "flaky": self._links(report.flaky),
            "totals": [(o, MARKS[o], count) for o, count in report.totals.items()],
            "matrix": Matrix.of(report, self.numbers),
            "histograms": histograms(report),
            "nearly_used": list(self._nearly_used()),
            "slowest": list(self._slowest()),
            "notes": report.notes,
            "shortened": self.limit if self.limit < MESSAGE_LIMIT else None,
        }

    def _change(self, kind: Kind, groups: Sequence[Group[ReportedCase]]) -> dict[str, Any]:
        comparison = self.report.comparison
        return {
            "title": kind.value,
            "is_regression": comparison is not None and kind in comparison.regressions,
            "count": sum(len(group.cases) for group in groups),
            "groups": self._groups(groups),
        }

    def _groups(self, groups: Iterable[Group[ReportedCase]]) -> list[_Said]:
        return [_Said(group.said, self._links(group.cases)) for group in groups]

    def _links(self, cases: Iterable[ReportedCase]) -> list[_Link]:
        return [_Link(self.numbers[c.key], self.report.sweep.title_of(c)) for c in cases]

    def _nearly_used(self) -> Iterable[dict[str, Any]]:
        for case in self.report.nearly_used(_MOST_LISTED):
            share = case.tolerance_used or 0.0
            yield self._bar(case, min(share, 1.0), percent(share))

    def _slowest(self) -> Iterable[dict[str, Any]]:
        cases = self.report.slowest(_MOST_LISTED)
        for case in cases:
            yield self._bar(case, case.seconds / cases[0].seconds, duration(case.seconds))

    def _bar(self, case: ReportedCase, share: float, text: str) -> dict[str, Any]:
        (link,) = self._links([case])
        return {"link": link, "share": f"{share:.1%}", "text": text}


def _policy(script: str) -> str:
    """What a browser runs of the page: this script and no other, whatever a message holds."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("testing.reports.page", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["readable"] = readable
    return environment
