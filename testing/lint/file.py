"""What the rules look at."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from testing.registry.entries import Skip, Tolerance
from testing.registry.problems import Problem
from testing.registry.skip_file import Entry, ScopeKey

__all__ = ["LintedFile", "texts_of"]


@dataclass(frozen=True)
class LintedFile:
    """A file without syntax errors.

    Attributes:
        text: Its text.
        entries: The entries that can be trusted, in its order.
        scopes: Its scopes, in its order.
        problems: What reading it has found already.
        today: The day to which dates are compared.
        tests: Directory of the test modules; None where the harness has none beside it.
    """

    text: str
    entries: tuple[Entry, ...]
    scopes: tuple[ScopeKey, ...]
    problems: tuple[Problem, ...]
    today: datetime.date
    tests: Path | None

    def entries_of(self, table: str) -> Iterator[Entry]:
        """The entries of one table."""
        return (entry for entry in self.entries if entry.table == table)


def texts_of(value: Skip | Tolerance) -> Iterator[str]:
    """Every text that an entry has."""
    return (text for text in vars(value).values() if isinstance(text, str))
