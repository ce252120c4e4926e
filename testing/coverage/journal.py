"""Verdicts on disk: one JSON object a line, appended as they come, so that a run can go on."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from testing import json_lines
from testing.coverage.errors import VerdictJournalError
from testing.coverage.verdict import Kind, Verdict
from testing.versions import digest_of_sources, versions_of

__all__ = ["Key", "VerdictJournal", "default_path"]

_TESTING = Path(__file__).resolve().parents[1]
_EXAMINED = (_TESTING / "tiny", _TESTING / "inputs")
_PACKAGES = ("transformers", "torch")


@dataclasses.dataclass(frozen=True)
class Key:
    """What a verdict is of; under another one it says nothing.

    Attributes:
        versions: Of transformers and torch.
        sources: Digest of the code that makes tiny models and inputs.
    """

    versions: Mapping[str, str]
    sources: str

    @classmethod
    def here(cls) -> Key:
        """That of this interpreter and this checkout."""
        found = versions_of(_PACKAGES)
        versions = {name: found[name] for name in _PACKAGES if name in found}
        return cls(versions, digest_of_sources(_EXAMINED))


_COLUMNS = frozenset(field.name for of in (Key, Verdict) for field in dataclasses.fields(of))


class VerdictJournal:
    """A file of verdicts, of which those under one key are read."""

    def __init__(self, path: Path, key: Key) -> None:
        """Name the file; it need not be there."""
        self.path = path
        self.key = key

    def read(self) -> dict[str, Verdict]:
        """The last verdict on each class under the key; what is no verdict is passed over.

        Raises:
            VerdictJournalError: The file cannot be read.
        """
        return {verdict.model_class: verdict for verdict in self._verdicts()}

    def append(self, verdict: Verdict) -> None:
        """Write one line; it is in the file on return.

        Raises:
            VerdictJournalError: It cannot be written.
        """
        row = dataclasses.asdict(self.key) | dataclasses.asdict(verdict)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            json_lines.append(self.path, json.dumps(row).encode("ascii"))
        except OSError as error:
            raise VerdictJournalError(self.path, error) from error

    def _verdicts(self) -> Iterator[Verdict]:
        try:
            for row in json_lines.rows(self.path):
                # One of another release has other columns.
                if row.keys() == _COLUMNS and self.key == Key(row["versions"], row["sources"]):
                    yield _verdict(row)
        except OSError as error:
            raise VerdictJournalError(self.path, error) from error


def default_path(versions: Mapping[str, str]) -> Path:
    """Where verdicts under these versions are kept."""
    name = f"{versions['transformers']}-torch-{versions['torch']}.jsonl"
    return Path("build", "coverage", name)


def _verdict(row: Mapping[str, Any]) -> Verdict:
    values = {field.name: row[field.name] for field in dataclasses.fields(Verdict)}
    return Verdict(**{**values, "kind": Kind(row["kind"])})
