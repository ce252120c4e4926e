"""How an outcome is marked: a shape that is told apart without its colour, and a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from testing.reports.case import ReportedCase
from testing.reports.digest import percent
from testing.reports.report import NEARLY_USED
from testing.results import Outcome

__all__ = ["MARKS", "cell_text"]

MARKS: Final[Mapping[Outcome, str]] = {
    Outcome.PASSED: "✓",
    Outcome.FAILED: "✗",
    Outcome.CRASHED: "†",
    Outcome.TIMEOUT: "T",
    Outcome.SKIPPED: "–",
    Outcome.NOT_APPLICABLE: "∅",
    Outcome.EXPORTED: "E",
    Outcome.XFAILED: "x",
    Outcome.XPASSED: "!",
}


def cell_text(case: ReportedCase) -> str:
    """What stands beside the mark in the matrix; nothing where all is as it should be."""
    result = case.result
    if result.outcome is Outcome.XPASSED:
        return "stale entry"
    if case.fails:
        return " ".join(word for word in (result.signal, result.stage) if word)
    if case.is_flaky:
        return "flaky"
    used = case.tolerance_used or 0.0
    return percent(used) if case.passed and used >= NEARLY_USED else ""
