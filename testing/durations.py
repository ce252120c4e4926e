"""How long model classes took in an earlier run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from testing import journal
from testing.results import CaseResult

__all__ = ["durations_of"]


def durations_of(directory: str | Path) -> Mapping[str, int]:
    """Milliseconds that the cases of each model class took, in a results directory.

    What was only skipped is left out: it tells nothing of the time that it would take.

    Args:
        directory: A results directory, or one that holds those of several shards.

    Raises:
        FileNotFoundError: There is no such directory.
    """
    inner = [path for path in Path(directory).glob("*") if path.is_dir()]
    scanned = map(journal.scan, [Path(directory), *inner])
    return _by_class(row for contents in scanned for row in contents.attempts)


def _by_class(attempts: Iterable[CaseResult]) -> Counter[str]:
    # The longest of a case's attempts counts, which is the same in whatever order files are read.
    longest: dict[tuple[str, str], int] = {}
    for row in attempts:
        taken = round(1000 * row.total_seconds)
        # The row that sums up components has their time too.
        if taken and row.component is None:
            key = row.model_class, row.case_id
            longest[key] = max(taken, longest.get(key, 0))
    total = Counter[str]()
    for (model_class, _), taken in longest.items():
        total[model_class] += taken
    return total
