"""Which entries are meant: by scope, class, kind and shard; names match whole."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from testing.audit.errors import NoEntryError
from testing.registry import Entry, Skip
from testing.scopes import Scope
from testing.shards import Shard

__all__ = ["Filter", "selected"]


@dataclass(frozen=True)
class Filter:
    """What an entry must be; an empty field asks for nothing.

    Attributes:
        model_classes: Names of classes.
        scopes: Scopes; an entry of one of them, or of one within, is meant.
        kinds: Kinds of entries, such as ``bug``.
        shard: The share of the classes that is meant.
    """

    model_classes: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ()
    kinds: tuple[str, ...] = ()
    shard: Shard | None = None

    def holds(self, entry: Entry) -> bool:
        """Whether an entry is meant."""
        value = entry.value
        return (
            (not self.model_classes or entry.model_class in self.model_classes)
            and (not self.scopes or any(_is_within(entry.scope, s) for s in self.scopes))
            and (not self.kinds or (isinstance(value, Skip) and value.kind in self.kinds))
            and (self.shard is None or self.shard.holds(entry.model_class))
        )


def selected(entries: Iterable[Entry], wanted: Filter) -> tuple[Entry, ...]:
    """The entries that are meant, in the order of the file.

    Raises:
        NoEntryError: A class or a scope that is asked for has no entry, or no entry has all that
            is asked for; a share of the classes may have none.
    """
    every = tuple(entries)
    _require("class", wanted.model_classes, [entry.model_class for entry in every])
    for scope in wanted.scopes:
        if not any(_is_within(entry.scope, scope) for entry in every):
            raise NoEntryError(f"no entry is under the scope {scope} or one within it")
    found = tuple(filter(wanted.holds, every))
    if every and not found and wanted.shard is None:
        raise NoEntryError("no entry has the class, the scope and the kind that are asked for")
    return found


def _is_within(scope: Scope, other: Scope) -> bool:
    return other <= scope or other.covers(scope)


def _require(what: str, names: Iterable[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            close = ", ".join(difflib.get_close_matches(name, sorted(set(known)), n=3))
            hint = f"; nearest: {close}" if close else ""
            raise NoEntryError(f"no entry has the {what} {name!a}{hint}")
