"""Verdicts on disk: one JSON object a line, appended as they come, so that a run can go on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testing.coverage.errors import VerdictJournalError
from testing.coverage.verdict import Kind, Verdict
from testing.keyed_journal import KeyedJournal
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


class VerdictJournal:
    """A file of verdicts, of which those under one key are read."""

    def __init__(self, path: Path, key: Key) -> None:
        """Name the file; it need not be there."""
        self.path = path
        self._journal = KeyedJournal(path, dataclasses.asdict(key), VerdictJournalError)

    def read(self) -> dict[str, Verdict]:
        """The last verdict on each class under the key; what is no verdict is passed over.

        Raises:
            VerdictJournalError: The file cannot be read.
        """
        return {verdict.model_class: verdict for verdict in self._journal.read(_verdict)}

    def append(self, verdict: Verdict) -> None:
        """Write one line; it is in the file on return.

        Raises:
            VerdictJournalError: It cannot be written.
        """
        self._journal.append(dataclasses.asdict(verdict))


def default_path(versions: Mapping[str, str]) -> Path:
    """Where verdicts under these versions are kept."""
    name = f"{versions['transformers']}-torch-{versions['torch']}.jsonl"
    return Path("build", "coverage", name)


def _verdict(row: Mapping[str, Any]) -> Verdict:
    values = {field.name: row[field.name] for field in dataclasses.fields(Verdict)}
    return Verdict(**{**values, "kind": Kind(row["kind"])})
