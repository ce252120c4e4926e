"""Results of audited cases on disk, appended as they come, so that an audit goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from exporters import BACKENDS, get_backend
from testing.audit.errors import AuditFileError
from testing.keyed_journal import KeyedJournal
from testing.results import CaseResult
from testing.settings import CaseRequest
from testing.versions import digest_of_sources, versions_of

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
        return cls(versions_here(), digest_of_sources([*directories, tests]))


class AttemptJournal:
    """A file of results, of which those under one key are read."""

    def __init__(self, path: Path, key: Key) -> None:
        """Name the file; it need not be there."""
        self.path = path
        self._journal = KeyedJournal(path, asdict(key), AuditFileError)

    def read(self) -> dict[str, CaseResult]:
        """The last result of each request, by `digest_of`.

        Raises:
            AuditFileError: The file cannot be read.
        """
        return dict(
            self._journal.read(lambda row: (row["request"], CaseResult.from_json(row["result"])))
        )

    def append(self, request: CaseRequest, result: CaseResult) -> None:
        """Write one line; it is in the file on return.

        Raises:
            AuditFileError: It cannot be written.
        """
        self._journal.append({"request": digest_of(request), "result": result.to_json()})


def digest_of(request: CaseRequest) -> str:
    """What tells a request from every other: its case, test, seed, tolerance and settings."""
    text = json.dumps(request.to_dict(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
