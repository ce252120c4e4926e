"""What became of the exports of a run, at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from testing import journal
from testing.session import SESSION

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

__all__: list[str] = []


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Print what became of the exports of this run, read from the journal."""
    seen = {
        report.nodeid for reports in terminalreporter.stats.values() for report in reports
        if isinstance(report, pytest.TestReport)
    }  # fmt: skip
    contents = journal.scan(config.stash[SESSION].settings.results or "")
    results = [result for result in contents.results if result.case_id in seen]
    if not (results or contents.damaged):
        return
    from testing.reports.summary import damage, summarize  # rich, which collection does without

    terminalreporter.section("exports")
    writer = config.get_terminal_writer()
    if results:
        terminalreporter.write(summarize(results, width=writer.fullwidth, color=writer.hasmarkup))
    if contents.damaged:
        terminalreporter.write_line(damage(contents.damaged), yellow=True)
    given = config.getoption("--results")
    if given:
        terminalreporter.write_line(f"results: {given}")
