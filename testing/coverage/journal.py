"""Verdicts on disk: one JSON object a line, appended as they come, so that a run can go on."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from testing.coverage.errors import VerdictJournalError
from testing.coverage.verdict import Kind, Verdict
from testing.versions import versions_of

__all__ = ["Key", "VerdictJournal", "default_path"]

_EXAMINED = ("tiny", "inputs")
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
        return cls({name: found[name] for name in _PACKAGES if name in found}, _sources_digest())


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
            with open(self.path, "ab+", buffering=0) as stream:
                # A run that was killed may have left half a line.
                torn = b"\n" if _is_torn(stream.fileno()) else b""
                stream.write(torn + json.dumps(row).encode("ascii") + b"\n")
        except OSError as error:
            raise VerdictJournalError(self.path, error) from error

    def _verdicts(self) -> Iterator[Verdict]:
        for line in self._lines():
            row = _row(line)
            if row and self.key == Key(row["versions"], row["sources"]):
                yield _verdict(row)

    def _lines(self) -> list[bytes]:
        try:
            return self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise VerdictJournalError(self.path, error) from error


def default_path(versions: Mapping[str, str]) -> Path:
    """Where verdicts under these versions are kept."""
    name = f"{versions['transformers']}-torch-{versions['torch']}.jsonl"
    return Path("build", "coverage", name)


def _is_torn(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"


def _row(line: bytes) -> dict[str, Any]:
    """One line as it was written; nothing where it is torn or of another release."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) and found.keys() == _COLUMNS else {}


def _verdict(row: Mapping[str, Any]) -> Verdict:
    values = {field.name: row[field.name] for field in dataclasses.fields(Verdict)}
    return Verdict(**{**values, "kind": Kind(row["kind"])})


def _sources_digest() -> str:
    root = Path(__file__).resolve().parents[1]
    files = sorted(file for name in _EXAMINED for file in (root / name).rglob("*.py"))
    digest = hashlib.sha256()
    for file in files:
        digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
