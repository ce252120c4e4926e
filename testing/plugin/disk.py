"""A results directory that can be written no more: the run stops, and says how it goes on."""

from __future__ import annotations

import shlex
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from testing.journal import JournalError
from testing.plugin.options import results_of

__all__: list[str] = []


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around the hook that records
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Stop the run at the first result that cannot be written: later ones would be lost too."""
    error: BaseException | None = None
    try:
        report = yield
    except JournalError as raised:
        error, report = raised, pytest.TestReport.from_item_and_call(item, call)
    if error is None and call.excinfo is not None:
        error = call.excinfo.value
    if isinstance(error, JournalError):
        report.outcome = "failed"
        report.longrepr = _advice(error, results_of(item.config))
        # pytest ends its line with it, so that it has to be one.
        item.session.shouldstop = str(error)
    return report


def _advice(error: JournalError, results: Path | None) -> str:
    """What to do; where no directory was named, what was written goes with the run."""
    if results is None:
        return f"{error}\nThe run stops here. Make room, then run it again, with --results DIR"
    return (
        f"{error}\nThe run stops here; what was written before is whole. Make room, then go on "
        f"with --resume {shlex.quote(str(results))}"
    )
