"""Ctrl-C: the first ends the run in order, a second cannot break into that end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeAlias

import pytest

__all__: list[str] = []

_Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None


class _Interrupts:
    """What Ctrl-C does from now on, and did before.

    The end of a run is bounded: children are killed and what was recorded is told. A second
    Ctrl-C in it would leave a traceback in place of the summary. SIGTERM ends it at any time.
    """

    def __init__(self) -> None:
        self._before: _Handler = None

    def pytest_keyboard_interrupt(self) -> None:
        """Ignore those that follow the first."""
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, signal.SIG_IGN)

    def pytest_unconfigure(self) -> None:
        """Leave this process as it was: a run may be a part of it."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


def pytest_configure(config: pytest.Config) -> None:
    """Begin to listen."""
    config.pluginmanager.register(_Interrupts())
