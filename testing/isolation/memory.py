"""What a child and its descendants hold in memory, looked at while they run."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Iterable
from typing import Final

from testing.isolation import linux

__all__ = ["MemoryWatch"]

_INTERVAL: Final = 0.05
_SHARE: Final = 0.1
_PAGE: Final = os.sysconf("SC_PAGESIZE")


class MemoryWatch:
    """Looks again and again whether the children of a server hold more than a limit.

    The limit is not the kernel's: ``RLIMIT_AS`` counts addresses, of which a process with torch
    and XLA's client has 6 GB where it holds 0.9, and each process by itself; ``RLIMIT_RSS`` does
    nothing, setrlimit(2). A cgroup would be exact and needs rights that a run seldom has. So a
    child can pass the limit by what it takes between two looks.

    Attributes:
        peak: The most that they were seen to hold together, in bytes.
    """

    def __init__(self, limit: int | None) -> None:
        """Set the limit.

        Args:
            limit: Bytes; None looks at nothing.
        """
        self.peak = 0
        self._limit = limit
        self._next = -math.inf if limit else math.inf

    @property
    def seconds_left(self) -> float:
        """Seconds until it is time to look."""
        return max(0.0, self._next - time.monotonic())

    def is_exceeded(self, server: int) -> bool:
        """Whether the descendants of process `server` hold too much; False between two looks."""
        start = time.monotonic()
        if self._limit is None or start < self._next:
            return False
        processes = linux.descendants_of(server)
        # Pages that processes share count for each of them, so that the sum only says when to
        # look closely, which takes the kernel some milliseconds.
        held = sum(map(_resident, processes))
        if held > self._limit:
            held = sum(map(_proportional, processes))
        self.peak = max(self.peak, held)
        now = time.monotonic()
        self._next = now + max(_INTERVAL, (now - start) / _SHARE)
        return held > self._limit


def _resident(process: int) -> int:
    with contextlib.suppress(OSError), open(f"/proc/{process}/statm") as counts:
        return int(counts.read().split()[1]) * _PAGE
    return 0


def _proportional(process: int) -> int:
    """Bytes that a process holds, each page divided by the number of those that share it."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/smaps_rollup") as lines:
        return 1024 * _kilobytes(lines)
    return 0


def _kilobytes(lines: Iterable[str]) -> int:
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
