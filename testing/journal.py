"""Results on disk: one JSON object a line, appended as they come and merged on reading."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from testing import json_lines
from testing.results import CaseResult

__all__ = ["Journal", "JournalContents", "JournalError", "read", "scan"]

_PATTERN = "results*.jsonl"


class JournalError(Exception):
    """A results directory or file that cannot be written."""


@dataclass(frozen=True)
class JournalContents:
    """What a results directory holds.

    Attributes:
        results: One result a case and component: that of the latest attempt.
        attempts: Every result, in the order in which it was written, file by file.
        damaged: Lines that hold no result, each as ``file:line: why``.
        written: When its last file was written, in seconds since the epoch; 0 of no file.
    """

    results: tuple[CaseResult, ...]
    attempts: tuple[CaseResult, ...]
    damaged: tuple[str, ...]
    written: float = 0.0


class Journal:
    """Appends results to a file of its own in a directory that workers share."""

    def __init__(self, directory: str | Path, worker: str | None = None) -> None:
        """Make the directory when it is missing and see that it can be written.

        Args:
            directory: Where ``results.jsonl`` is, or the workers' ``results-gw0.jsonl``.
            worker: Name of the xdist worker; by default what xdist has set for this process.

        Raises:
            JournalError: It cannot be made or written.
        """
        worker = worker or os.environ.get("PYTEST_XDIST_WORKER")
        self.path = Path(directory) / (f"results-{worker}.jsonl" if worker else "results.jsonl")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._check_writable()
        except OSError as error:
            raise JournalError(
                f"the results directory {directory} cannot be written ({error.strerror}): "
                "give another one with --results"
            ) from error

    def append(self, result: CaseResult) -> None:
        """Write one line; it is in the file, whatever becomes of this process, on return.

        Raises:
            JournalError: The disk is full, or the file cannot be written any more.
        """
        try:
            json_lines.append(self.path, result.to_json().encode("ascii"))
        except OSError as error:
            raise JournalError(
                f"the result of {result.case_id} ({result.outcome.value}) cannot be written to "
                f"{self.path}: {error.strerror}"
            ) from error

    def _check_writable(self) -> None:
        """Raise an OSError where a result could not be written; leave no file behind.

        The controller of xdist workers has a journal too, and no results of its own.
        """
        with tempfile.TemporaryFile(dir=self.path.parent):
            pass
        if self.path.exists():
            json_lines.append(self.path, b"")


def read(directory: str | Path) -> list[CaseResult]:
    """The latest result of every case and component of a directory; see `scan`."""
    return list(scan(directory).results)


def scan(directory: str | Path) -> JournalContents:
    """Everything that the files of a directory hold.

    A line that is no result, such as the torn last one of a run that was killed, is listed
    as damaged and loses no other.

    Raises:
        FileNotFoundError: There is no such directory.
    """
    attempts: list[CaseResult] = []
    damaged: list[str] = []
    files = _files(Path(directory))
    for path in files:
        for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
            if not line.strip():
                continue
            try:
                attempts.append(CaseResult.from_json(line.decode("utf-8")))
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                damaged.append(f"{path.name}:{number}: {error}")
    written = files[-1].stat().st_mtime if files else 0.0
    return JournalContents(tuple(_latest(attempts)), tuple(attempts), tuple(damaged), written)


def _files(directory: Path) -> list[Path]:
    if not directory.is_dir():
        raise FileNotFoundError(f"there is no results directory {directory}")
    return sorted(directory.glob(_PATTERN), key=lambda path: (path.stat().st_mtime_ns, path.name))


def _latest(attempts: Iterable[CaseResult]) -> list[CaseResult]:
    """One result a case and component; of equal attempts the one that was written last."""
    latest: dict[tuple[str, str | None], CaseResult] = {}
    for result in attempts:
        key = (result.case_id, result.component)
        if key not in latest or result.attempt >= latest[key].attempt:
            latest[key] = result
    return [row for row in latest.values() if not _is_of_earlier_try(row, latest)]


def _is_of_earlier_try(row: CaseResult, latest: dict[tuple[str, str | None], CaseResult]) -> bool:
    """Whether a component had a result in a try before, and none in the last one."""
    whole = latest.get((row.case_id, None))
    return row.component is not None and whole is not None and row.attempt < whole.attempt
