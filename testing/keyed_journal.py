"""Rows on disk, appended as they come so that a run can go on, and read under one key alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from testing import json_lines

__all__ = ["KeyedJournal"]

T = TypeVar("T")


class KeyedJournal:
    """A file of JSON objects, one a line.

    Attributes:
        path: The file; it need not be there.
    """

    def __init__(
        self,
        path: Path,
        key: Mapping[str, Any],
        unusable: Callable[[Path, OSError], Exception],
    ) -> None:
        """Name the file.

        Args:
            path: The file.
            key: What each row is of; rows of something else are not read.
            unusable: The error to raise where the file cannot be read or written.
        """
        self.path = path
        self._key = key
        self._unusable = unusable

    def append(self, row: Mapping[str, Any]) -> None:
        """Write one row; it is in the file on return.

        Raises:
            Exception: What `unusable` makes; the file cannot be written.
        """
        line = json.dumps({**self._key, **row}).encode("ascii")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            json_lines.append(self.path, line)
        except OSError as error:
            raise self._unusable(self.path, error) from error

    def read(self, parse: Callable[[Mapping[str, Any]], T]) -> Iterator[T]:
        """What `parse` makes of each row under the key, in the order of the file.

        A torn line is passed over, and so is a row of another release, which `parse` does not
        understand: what it is of is then run again.

        Raises:
            Exception: What `unusable` makes; the file cannot be read.
        """
        try:
            rows = list(json_lines.rows(self.path))
        except OSError as error:
            raise self._unusable(self.path, error) from error
        for row in rows:
            if row.items() >= self._key.items():
                try:
                    yield parse(row)
                except (KeyError, TypeError, ValueError):
                    continue
