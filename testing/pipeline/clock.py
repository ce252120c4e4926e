"""The stages of a case, told as they begin and timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

__all__ = ["STAGES", "Clock"]

STAGES: Final = ("prepare", "eager", "export", "run", "compare")
"""The stages of a case, in order."""


class Clock:
    """Tells and times the stages of one part.

    Attributes:
        current: The stage that runs or ran last.
        seconds: How long each took.
    """

    def __init__(self, on_stage: Callable[[str], None]) -> None:
        self._on_stage = on_stage
        self._started = time.monotonic()
        self.current: str | None = None
        self.seconds: dict[str, float] = {}

    def begin(self, stage: str) -> None:
        """End the stage before and begin another."""
        self.end()
        self.current, self._started = stage, time.monotonic()
        self._on_stage(stage)

    def end(self) -> None:
        """Take the time of the stage that runs."""
        if self.current is not None:
            self.seconds[self.current] = round(time.monotonic() - self._started, 4)
