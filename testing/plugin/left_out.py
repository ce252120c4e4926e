"""Backends of other packages that cannot be used: the run goes on, and its end tells of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporters import BROKEN

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

__all__: list[str] = []


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Name each, whose it is, and what is wrong with it."""
    if not BROKEN:
        return
    terminalreporter.section("backends left out")
    for error in BROKEN.values():
        terminalreporter.write_line(str(error), yellow=True)
