"""A run while it goes on: how far it is, how long it will take, what each worker does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from testing.faults import readable
from testing.reports.names import engine_of, variant_of
from testing.results import CaseResult, Outcome
from testing.status import Status

__all__ = ["Tally", "lines", "one_line"]

_SHOWN: Final = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
# Of fewer the time that is left cannot be told.
_FEWEST_DONE: Final = 5


@dataclass
class Tally:
    """How far a run is.

    Attributes:
        started: When it began, in seconds since the epoch.
        total: How many tests it has; 0 while that is not known.
        done: How many are over.
        counts: How many ended in which of pytest's categories.
    """

    started: float
    total: int = 0
    done: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def left(self, now: float) -> float | None:
        """Seconds until the end at the pace so far; None where that cannot be told yet."""
        if self.done < _FEWEST_DONE or self.total < self.done:
            return None
        return (now - self.started) / self.done * (self.total - self.done)


def lines(tally: Tally, statuses: Mapping[str, Status], now: float) -> Iterator[str]:
    """A line on the run, then one for each worker.

    Args:
        tally: How far it is.
        statuses: What each worker does, by its name.
        now: Seconds since the epoch.
    """
    yield _progress(tally, now)
    for worker, status in statuses.items():
        yield f"{worker:<5} {_doing(status, now)}"


def one_line(tally: Tally, statuses: Mapping[str, Status], now: float) -> str:
    """The same on one line, for a log."""
    told = [_progress(tally, now)]
    told += [f"{worker}: {_doing(status, now)}" for worker, status in statuses.items()]
    return " | ".join(told)


def _progress(tally: Tally, now: float) -> str:
    counted = [f"{tally.counts[name]} {name}" for name in _SHOWN if tally.counts[name]]
    left = tally.left(now)
    ending = [] if left is None else [f"ETA {_clock(left)}"]
    begun = f"{tally.done}/{tally.total or '?'} in {_clock(now - tally.started)}"
    return ", ".join([begun, *counted, *ending])


def _doing(status: Status, now: float) -> str:
    if status.case_id is None:
        return "-"
    return f"{_name(status)}, {status.stage}, {_clock(now - status.since)}"


def _name(status: Status) -> str:
    if status.case is None:
        return readable((status.case_id or "").rpartition("::")[2])
    row = CaseResult.of(status.case, "", Outcome.PASSED)
    return f"{row.model_class} [{engine_of(row)} {variant_of(row)}]"


def _clock(seconds: float) -> str:
    """``7 s``, ``3:05`` or ``2:00:10``."""
    whole = max(0, round(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}" if minutes else f"{rest} s"
