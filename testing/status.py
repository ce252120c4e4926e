"""What each worker of a run does at this moment, in files that the controller reads."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from testing.cases import ExportCase

__all__ = ["Status", "StatusFile", "statuses"]

MAIN: Final = "main"
"""Name of the process that runs cases itself, without workers."""

_PREFIX: Final = "status-"


@dataclass(frozen=True)
class Status:
    """What one worker does.

    Attributes:
        case_id: pytest's node id; None between two tests.
        case: The case, where the test is an export.
        stage: Stage of the case.
        since: When the test began, in seconds since the epoch.
    """

    case_id: str | None = None
    case: ExportCase | None = None
    stage: str | None = None
    since: float = 0.0


class StatusFile:
    """The file of one worker; it is replaced as a whole, so that no half of it is ever read."""

    def __init__(self, directory: Path, worker: str = MAIN) -> None:
        """Name the file; nothing is written."""
        self._path = directory / f"{_PREFIX}{worker}.json"
        self._status = Status()

    def begin(self, case_id: str, case: ExportCase | None) -> None:
        """A test begins."""
        self._write(Status(case_id, case, "start", time.time()))

    def enter(self, stage: str) -> None:
        """The test enters a stage."""
        self._write(dataclasses.replace(self._status, stage=stage))

    def end(self) -> None:
        """The test is over."""
        self._write(Status())

    def _write(self, status: Status) -> None:
        self._status = status
        new = self._path.with_suffix(".new")
        # On a full disk it tells what was before: that is no reason to end a run.
        with contextlib.suppress(OSError):
            new.write_text(json.dumps(dataclasses.asdict(status)), encoding="ascii")
            os.replace(new, self._path)


def statuses(directory: Path) -> Mapping[str, Status]:
    """What each worker has told last, by its name."""
    files = sorted(directory.glob(f"{_PREFIX}*.json"))
    return {file.stem.removeprefix(_PREFIX): _read(file) for file in files}


def _read(file: Path) -> Status:
    values = json.loads(file.read_text(encoding="ascii"))
    case = values["case"]
    return Status(**{**values, "case": ExportCase(**case) if case else None})
