"""Ctrl-C: the first ends the run in order, and what follows cannot break into that end."""

from __future__ import annotations

import math
import signal
import threading
import time
from types import FrameType
from typing import Final

import pytest

__all__: list[str] = []

_SAME_SECONDS: Final = 2.0
"""For so long a second Ctrl-C is the same wish as the first."""


class _Interrupts:
    """What Ctrl-C does during a run.

    The end of a run is bounded: children are killed, and what was recorded is told. A second
    Ctrl-C would leave a traceback in its place. SIGTERM ends the process at any time.
    """

    def __init__(self) -> None:
        self._at = -math.inf
        self._is_ending = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if not self._is_ending and now - self._at > _SAME_SECONDS:
            self._at = now
            raise KeyboardInterrupt

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """From here on pytest ends the run; code of a case may have swallowed earlier ones."""
        self._is_ending = True

    def pytest_unconfigure(self) -> None:
        """Leave this process as it was: a run may be a part of it."""
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Take Ctrl-C over, unless somebody else has, or it is ignored as in the background."""
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_usual and threading.current_thread() is threading.main_thread():
        interrupts = _Interrupts()
        config.pluginmanager.register(interrupts)
        signal.signal(signal.SIGINT, interrupts)
