"""What is known of an entry beside its text: since when it is there, what was found of it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from testing.registry import Entry, Registry
from testing.registry.audits import AuditFinding, Audits
from testing.registry.blame import Commit, blame
from testing.registry.references import holders, is_full, reference_of

__all__ = ["Histories", "History"]


@dataclass(frozen=True)
class History:
    """An entry and what is known of it.

    Attributes:
        entry: The entry.
        holds: Whether its ``when`` holds of what is installed.
        since: The commit that gave its first line its text; None where there is none.
        audit: What the last audit found; None where none has looked.
        cause: The entry to which its reason refers.
    """

    entry: Entry
    holds: bool
    since: Commit | None
    audit: AuditFinding | None
    cause: Entry | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        entry = self.entry
        since = self.since and {**asdict(self.since), "date": str(self.since.date)}
        return {
            "table": entry.table,
            "scope": str(entry.scope),
            "model_class": entry.model_class,
            "line": entry.line,
            **asdict(entry.value),
            "holds": self.holds,
            "since": since,
            "last_audit": self.audit and asdict(self.audit),
            "cause": self.cause and {"line": self.cause.line, "reason": self.cause.reason},
        }


@dataclass(frozen=True)
class Histories:
    """Of the entries of one file.

    Attributes:
        registry: The entries.
        audits: What audits have found.
    """

    registry: Registry
    audits: Audits

    @classmethod
    def read(cls, skips: Path, audits: Path) -> Histories:
        """Read the file and the results of audits.

        Raises:
            SkipFileError: The file has problems.
        """
        return cls(Registry.load(skips), Audits.read(audits))

    def of(self, entry: Entry) -> History:
        """All that is known of an entry."""
        return History(
            entry=entry,
            holds=self.registry.holds(entry),
            since=(self._commits or {}).get(entry.line),
            audit=self.audits.last_of(entry),
            cause=self._cause(entry),
        )

    @property
    def has_dates(self) -> bool:
        """Whether git knows the file."""
        return self._commits is not None

    def age(self, entry: Entry, today: datetime.date) -> int:
        """Days since an entry was committed; 0 where it is not yet."""
        commit = (self._commits or {}).get(entry.line)
        return (today - commit.date).days if commit else 0

    @cached_property
    def _commits(self) -> Mapping[int, Commit] | None:
        return blame(self.registry.path)

    def _cause(self, entry: Entry) -> Entry | None:
        name = reference_of(entry.reason)
        found = holders(entry, name, self.registry.entries) if name else iter(())
        return next(filter(is_full, found), None)
