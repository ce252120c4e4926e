"""Findings on disk."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Final

from testing.audit.journal import Key
from testing.doctor.errors import FindingsFileError
from testing.doctor.findings import Findings
from testing.keyed_journal import KeyedJournal

__all__ = ["DEFAULT_PATH", "FindingsJournal"]

DEFAULT_PATH: Final = Path("build", "doctor", "findings.jsonl")


class FindingsJournal:
    """A file of findings, of which those under one key are read."""

    def __init__(self, path: Path, key: Key, backend: str) -> None:
        """Name the file; it need not be there."""
        self._journal = KeyedJournal(path, {**asdict(key), "backend": backend}, FindingsFileError)

    def read(self) -> dict[str, Findings]:
        """The last findings on each class.

        Raises:
            FindingsFileError: The file cannot be read.
        """
        found = self._journal.read(lambda row: Findings.from_dict(row["findings"]))
        return {one.model: one for one in found}

    def append(self, found: Findings) -> None:
        """Write one line; it is in the file on return.

        Raises:
            FindingsFileError: It cannot be written.
        """
        self._journal.append({"findings": found.to_dict()})
