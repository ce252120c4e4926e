"""What is kept line by line is read again under its own key alone, torn lines or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from testing.keyed_journal import KeyedJournal


class UnusableError(Exception):
    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"{path.name}: {error.strerror}")


def journal(path: Path, **key: Any) -> KeyedJournal:
    return KeyedJournal(path, key or {"versions": {"torch": "2"}}, UnusableError)


def value(row: Mapping[str, Any]) -> int:
    return int(row["value"])


def test_rows_come_back_in_order_and_without_those_that_cannot_be_parsed(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.jsonl"
    for row in ({"value": 1}, {"other": 2}, {"value": "x"}, {"value": 3}):
        journal(path).append(row)
    with path.open("ab") as stream:
        stream.write(b'[1]\n{"value": 4')
    journal(path).append({"value": 5})
    assert list(journal(path).read(value)) == [1, 3, 5]


def test_rows_under_another_key_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    journal(path, versions={"torch": "1"}).append({"value": 1})
    journal(path, sources="0").append({"value": 2})
    assert list(journal(path).read(value)) == []
    assert list(journal(path, sources="0").read(value)) == [2]


def test_nothing_is_known_without_a_file(tmp_path: Path) -> None:
    assert list(journal(tmp_path / "none").read(value)) == []


def test_a_file_that_cannot_be_used_is_the_error_that_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnusableError, match="rows: Not a directory|rows: File exists"):
        journal(tmp_path / "file" / "rows").append({"value": 1})
    with pytest.raises(UnusableError, match="Is a directory"):
        list(journal(tmp_path).read(value))
