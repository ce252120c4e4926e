"""Findings on disk: one JSON object a line, appended as they come, so that a run can go on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from testing import json_lines
from testing.audit.journal import Key
from testing.doctor.errors import DoctorError
from testing.doctor.findings import Findings

__all__ = ["DEFAULT_PATH", "FindingsJournal"]

DEFAULT_PATH: Final = Path("build", "doctor", "findings.jsonl")


class FindingsJournal:
    """A file of findings, of which those under one key are read."""

    def __init__(self, path: Path, key: Key, backend: str) -> None:
        """Name the file; it need not be there."""
        self.path = path
        self._key = {
            "versions": dict(key.versions),
            "sources": key.sources,
            "backend": backend,
        }

    def read(self) -> dict[str, Findings]:
        """The last findings on each class; lines that are none are passed over.

        Raises:
            DoctorError: The file cannot be read.
        """
        return {found.model: found for found in self._findings()}

    def append(self, found: Findings) -> None:
        """Write one line; it is in the file on return.

        Raises:
            DoctorError: It cannot be written.
        """
        row = json.dumps({**self._key, "findings": found.to_dict()})
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            json_lines.append(self.path, row.encode("ascii"))
        except OSError as error:
            raise self._unusable(error) from error

    def _findings(self) -> Iterator[Findings]:
        for row in self._rows():
            if row.items() >= self._key.items():
                try:
                    yield Findings.from_dict(row["findings"])
                except (KeyError, TypeError, ValueError):
                    continue  # of another release: the class is examined again

    def _rows(self) -> Iterator[dict[str, Any]]:
        try:
            yield from json_lines.rows(self.path)
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> DoctorError:
        return DoctorError(
            f"{self.path} cannot be used ({error.strerror}); name another file with --journal"
        )
