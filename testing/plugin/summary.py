"""What became of the exports of a run, at its end, and the exit status."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pytest

from testing import journal
from testing.journal import JournalContents
from testing.plugin.run import is_worker
from testing.plugin.selection import KEPT
from testing.reports.wording import rerun_command
from testing.results import CaseResult, Outcome
from testing.session import SESSION, Session

if TYPE_CHECKING:
    from _pytest._io import TerminalWriter
    from _pytest.terminal import TerminalReporter

__all__: list[str] = []

_ENDED_WELL: Final = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Let a run that was resumed end as all of it did, also what was not run again."""
    config = session.config
    run = config.stash[SESSION]
    if is_worker(config) or not run.settings.resume or exitstatus not in _ENDED_WELL:
        return
    results = _contents(run).results
    if any(_fails(result, run) for result in results):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    elif config.stash.get(KEPT, 0):
        session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(
    terminalreporter: TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Print what became of the exports of this run, read from the journal."""
    run = config.stash[SESSION]
    contents = _contents(run)
    results = contents.results if run.settings.resume else _seen(contents, terminalreporter)
    if not (results or contents.damaged):
        return
    from testing.reports.summary import damage  # rich, which collection does without

    terminalreporter.section("exports")
    if results:
        terminalreporter.write(_summary(results, run, config.get_terminal_writer()))
    if contents.damaged:
        terminalreporter.write_line(damage(contents.damaged), yellow=True)
    for line in _about_the_directory(config, exitstatus):
        terminalreporter.write_line(line)


def _summary(results: Sequence[CaseResult], run: Session, writer: TerminalWriter) -> str:
    from testing.reports.summary import summarize

    return summarize(
        results,
        rerun=lambda result: rerun_command(result.case_id, run.settings),
        width=writer.fullwidth,
        color=writer.hasmarkup,
    )


def _contents(run: Session) -> JournalContents:
    return journal.scan(run.settings.results or "")


def _seen(contents: JournalContents, reporter: TerminalReporter) -> tuple[CaseResult, ...]:
    """Results of what ran now; the directory may hold more."""
    reports = (report for of_category in reporter.stats.values() for report in of_category)
    seen = {
        report.nodeid
        for report in reports
        if isinstance(report, (pytest.TestReport, pytest.CollectReport))
    }
    return tuple(result for result in contents.results if result.case_id in seen)


def _about_the_directory(config: pytest.Config, exitstatus: int) -> list[str]:
    resumed = config.getoption("--resume")
    kept = config.stash.get(KEPT, 0)
    lines = [f"not run again, since {resumed} has their result: {kept}"] if resumed else []
    given = resumed or config.getoption("--results")
    if not given:
        return lines
    if exitstatus == pytest.ExitCode.INTERRUPTED:
        lines.append(f"the run was cut off: go on with it by --resume {shlex.quote(given)}")
    return [*lines, f"results: {given}"]


def _fails(result: CaseResult, run: Session) -> bool:
    if result.outcome is Outcome.XPASSED:
        return run.settings.strict_skips
    return result.outcome.is_failure
