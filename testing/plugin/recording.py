"""What pytest itself makes of a case: skips, limits, and a result where the case gave none."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from exporters import get_backend
from testing.mixin import export_case_of
from testing.results import CaseResult, Outcome
from testing.session import SESSION, SLOW_REASON

__all__: list[str] = []


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what is slow; an export decides for itself, so that its result is recorded."""
    session = item.config.stash[SESSION]
    session.recorded.discard(item.nodeid)
    is_slow = item.get_closest_marker("slow") is not None
    if is_slow and export_case_of(item) is None and not session.settings.slow:
        pytest.skip(SLOW_REASON)


@pytest.hookimpl(optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item) -> bool | None:
    """Keep pytest-timeout's timer off where the harness enforces the limit of the case.

    Its thread method ends the whole worker. True ends the search for a timer.
    """
    case = export_case_of(item)
    if case is None:
        return None
    isolates = item.config.stash[SESSION].settings.isolates(get_backend(case.backend))
    return True if isolates else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record an export that ended without a result: skipped by pytest, or by a fault of ours."""
    report = yield
    case = export_case_of(item)
    session = item.config.stash[SESSION]
    if case is not None and not report.passed and item.nodeid not in session.recorded:
        outcome = Outcome.SKIPPED if report.skipped else Outcome.FAILED
        said = {"reason" if report.skipped else "message": _said(report)}
        session.record(CaseResult.of(case, item.nodeid, outcome, stage=report.when, **said), case)
    if report.when == "call" and report.passed and item.nodeid in session.tolerated:
        # What pytest shows as xpassed.
        report.wasxfail = session.tolerated[item.nodeid]
    return report


def _said(report: pytest.TestReport) -> str:
    """The reason of a skip, which pytest has as the last of a triple, or the text of an error."""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[-1].removeprefix("Skipped: ")
    return str(report.longrepr)
