"""Reasons that refer to another entry: the one place that says in which words.

A reason refers to the entry of class X where it begins ``Same as `X`.``, ``Same op as `X`, …`` or
``Same cause on the static path as `X`: …``: up to six words between, and any text after.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from testing.registry.skip_file import Entry
from testing.scopes import Scope

__all__ = ["holders", "is_full", "reference_of", "repointed"]

_REFERENCE: Final = re.compile(r"[Ss]ame(?: [^\s`.]+){0,6}? as `?(?P<name>[A-Z]\w*)`?(?!\w)")


def reference_of(reason: str) -> str | None:
    """The class whose entry a reason refers to; None where the reason speaks for itself."""
    found = _REFERENCE.match(reason.lstrip())
    return found["name"] if found else None


def is_full(entry: Entry) -> bool:
    """Whether an entry gives its cause itself."""
    return reference_of(entry.reason) is None


def holders(entry: Entry, model_class: str, entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries of a class that `entry` may refer to, that under the most similar scope first.

    They stand in the same table, under a scope that has a case in common and the same effect.
    """
    same = (e for e in entries if (e.table, e.model_class) == (entry.table, model_class))
    found = [other for other in same if _is_of_same_cases(other.scope, entry.scope)]
    yield from sorted(found, key=lambda other: len(other.scope.facets ^ entry.scope.facets))


def _is_of_same_cases(one: Scope, other: Scope) -> bool:
    return one.is_exactness == other.is_exactness and one.meets(other)


def repointed(reason: str, old: str, new: str) -> str:
    """A reason that refers to `new` instead of `old`; any other is given back as it is."""
    found = _REFERENCE.match(reason)
    if found is None or found["name"] != old:
        return reason
    return reason[: found.start("name")] + new + reason[found.end("name") :]
