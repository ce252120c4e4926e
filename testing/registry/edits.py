"""Mechanical changes to ``skips.py``; `testing.registry.rewriting` makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

__all__ = ["Clean", "Edit", "Merge", "Place", "Remove", "Rename", "Repoint", "Sort"]


class Place(NamedTuple):
    """Where a key begins in the file.

    Attributes:
        line: From 1.
        column: In characters, from 0.
    """

    line: int
    column: int


@dataclass(frozen=True)
class Rename:
    """The key at a place becomes `name`."""

    place: Place
    name: str


@dataclass(frozen=True)
class Remove:
    """The item whose key is at a place goes, and its scope with it where that is empty then."""

    place: Place


@dataclass(frozen=True)
class Merge:
    """The entries of the scope at a place go to the earlier scope of the same name."""

    place: Place


@dataclass(frozen=True)
class Repoint:
    """The reason of the entry at a place refers to class `new` instead of `old`."""

    place: Place
    old: str
    new: str


@dataclass(frozen=True)
class Sort:
    """Scopes and names in their order, each with its comments."""


@dataclass(frozen=True)
class Clean:
    """No byte order mark, no CR, no character that cannot be seen."""


Edit: TypeAlias = Rename | Remove | Merge | Repoint | Sort | Clean
