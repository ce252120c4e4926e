"""A sweep as it goes on: live lines on a terminal, a line now and then in a log."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

import pytest

from testing.plugin.run import is_worker
from testing.reports.live import Tally, lines, one_line
from testing.session import SESSION
from testing.status import MAIN, Status, statuses

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter
    from rich.console import Console, RenderableType

__all__ = ["Follower", "Log", "Screen"]

LOG_SECONDS: Final = 60.0
"""How often a log has a line: one a minute tells where a run hangs and floods nothing."""

_FOLLOWER = "export-harness-follower"


@pytest.hookimpl(trylast=True)  # pytest's own reporter is there by then
def pytest_sessionstart(session: pytest.Session) -> None:
    """Follow a run that keeps its results, in the process that reports it."""
    config = session.config
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    shared = config.stash[SESSION].shared
    is_sweep = config.getoption("--results") or config.getoption("--resume")
    if is_worker(config) or reporter is None or shared is None or not is_sweep:
        return
    follower = Follower(shared)
    is_screen = reporter.isatty and reporter.verbosity == 0
    show = Screen(follower, reporter) if is_screen else Log(follower, _stream_of(reporter))
    config.pluginmanager.register(follower, _FOLLOWER)
    config.pluginmanager.register(show)


class Follower:
    """Counts what ended, and knows which workers there are."""

    def __init__(self, shared: Path) -> None:
        """Follow the workers that tell what they do in a directory."""
        self.tally = Tally(time.time())
        self._shared = shared
        self._gone: set[str] = set()

    def statuses(self) -> Mapping[str, Status]:
        """What each worker does that is alive."""
        found = statuses(self._shared)
        return {name: status for name, status in found.items() if name not in self._gone}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Know how many tests there are."""
        self.tally.total = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Know it of workers, which all collect alike."""
        self.tally.total = len(ids)
        self._gone.add(MAIN)  # a controller runs nothing itself

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Leave out a worker that ended."""
        self._gone.add(node.gateway.id)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> Generator[None, tuple[str, Any, Any], tuple[str, Any, Any]]:
        """Count how a test ended, in the category that pytest shows."""
        status = yield
        if status[0] and isinstance(report, pytest.TestReport):
            self.tally.counts[status[0]] += 1
        return status

    def pytest_runtest_logfinish(self) -> None:
        """Count a test that is over."""
        self.tally.done += 1


class Log:
    """A line at intervals, from a thread: the one that waits for a hung case says nothing."""

    def __init__(self, follower: Follower, stream: TextIO, seconds: float = LOG_SECONDS) -> None:
        """Write what a follower knows to a stream, every so many seconds."""
        self._follower = follower
        self._stream = stream
        self._seconds = seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def pytest_runtestloop(self) -> None:
        """Begin."""
        self._thread.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """End."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._seconds):
            told = one_line(self._follower.tally, self._follower.statuses(), time.time())
            # One call, so that pytest's dots do not come between.
            self._stream.write(f"\n{told}\n")
            self._stream.flush()


class Screen:
    """Lines at the bottom of a terminal, above which the failures appear."""

    def __init__(self, follower: Follower, reporter: TerminalReporter) -> None:
        """Take the place of the reporter's dots."""
        self._follower = follower
        self._reporter = reporter
        self._live = contextlib.ExitStack()
        self._console: Console | None = None

    def pytest_runtestloop(self) -> None:
        """Begin."""
        from rich.console import Console
        from rich.live import Live

        self._reporter.showfspath = False
        self._reporter._show_progress_info = False
        self._reporter.ensure_newline()
        self._console = Console(file=_stream_of(self._reporter), markup=False, highlight=False)
        live = Live(
            get_renderable=self._rendered,
            console=self._console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.enter_context(live)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """End, and leave the terminal to the summary."""
        self._live.close()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> Generator[None, tuple[str, Any, Any], tuple[str, Any, Any]]:
        """Show no dot; a failure is told at once, and at length in the end."""
        category, _, _ = yield
        if category in ("failed", "error") and self._console is not None:
            self._console.print(f"{category}: {report.nodeid}", style="red", soft_wrap=True)
        return category, "", ""

    def _rendered(self) -> RenderableType:
        from rich.text import Text

        return Text("\n".join(self._lines()), no_wrap=True, overflow="ellipsis")

    def _lines(self) -> Iterator[str]:
        return lines(self._follower.tally, self._follower.statuses(), time.time())


def _stream_of(reporter: TerminalReporter) -> TextIO:
    """Where the reporter writes, also while pytest captures what tests write to it."""
    stream = reporter._tw._file
    try:
        return os.fdopen(os.dup(stream.fileno()), "w", encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError):  # it is no file, but text in memory
        return stream
