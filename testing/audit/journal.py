"""Results of audited cases on disk, appended as they come, so that an audit goes on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from exporters import BACKENDS, get_backend
from testing.audit.errors import AuditFileError
from testing.results import CaseResult
from testing.settings import CaseRequest
from testing.versions import versions_of

__all__ = ["FILE_NAME", "AttemptJournal", "Key", "digest_of", "versions_here"]

FILE_NAME: Final = "attempts.jsonl"

_PACKAGES: Final = Path(__file__).resolve().parents[2]
_SOURCES: Final = (
    "exporters",
    *(f"testing/{name}" for name in ("comparison", "execution", "inputs", "pipeline", "tiny")),
)


def versions_here() -> dict[str, str]:
    """Versions of Python and of all that the backends depend on."""
    names = [name for backend in BACKENDS for name in get_backend(backend).distributions]
    return versions_of(dict.fromkeys(names))


@dataclass(frozen=True)
class Key:
    """What a result is of besides its request; under another key it says nothing.

    Attributes:
        versions: Of what is installed.
        sources: Digest of the code that makes, exports and compares models, and of the tests.
    """

    versions: Mapping[str, str]
    sources: str

    @classmethod
    def here(cls, tests: Path) -> Key:
        """That of this interpreter, this checkout and a directory of tests."""
        directories = [_PACKAGES / name for name in _SOURCES]
        return cls(versions_here(), _digest_of_files([*directories, tests]))


class AttemptJournal:
    """A file of results, of which those under one key are read."""

    def __init__(self, path: Path, key: Key) -> None:
        """Name the file; it need not be there."""
        self.path = path
        self._key = {"versions": dict(key.versions), "sources": key.sources}

    def read(self) -> dict[str, CaseResult]:
        """The last result of each request, by `digest_of`; torn lines are passed over.

        Raises:
            AuditFileError: The file cannot be read.
        """
        return dict(self._results())

    def append(self, request: CaseRequest, result: CaseResult) -> None:
        """Write one line; it is in the file on return.

        Raises:
            AuditFileError: It cannot be written.
        """
        row = {**self._key, "request": digest_of(request), "result": result.to_json()}
        line = json.dumps(row).encode("ascii") + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab+", buffering=0) as stream:
                # A run that was killed may have left half a line.
                stream.write(b"\n" + line if _is_torn(stream.fileno()) else line)
        except OSError as error:
            raise AuditFileError(self.path, error) from error

    def _results(self) -> Iterator[tuple[str, CaseResult]]:
        for line in self._lines():
            row = _row(line)
            if row.items() >= self._key.items():
                try:
                    yield row["request"], CaseResult.from_json(row["result"])
                except (KeyError, TypeError, ValueError):
                    continue  # of another release: the case is run again

    def _lines(self) -> list[bytes]:
        try:
            return self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise AuditFileError(self.path, error) from error


def digest_of(request: CaseRequest) -> str:
    """What tells a request from every other: its case, test, seed, tolerance and settings."""
    text = json.dumps(request.to_dict(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _row(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_torn(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"


def _digest_of_files(directories: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for directory in directories:
        for file in sorted(directory.rglob("*.py")):
            name = str(file.relative_to(directory)).encode()
            digest.update(name + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
