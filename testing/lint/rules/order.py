"""The order of scopes and names, so that each has one place and two edits do not meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, TypeVar

from testing.lint.file import LintedFile
from testing.lint.rules import rule
from testing.registry.edits import Sort
from testing.registry.problems import Code, Problem

__all__ = ["NAMES_UNSORTED", "SCOPES_UNSORTED"]

SCOPES_UNSORTED: Final = Code("S601", "scopes-unsorted")
NAMES_UNSORTED: Final = Code("S602", "names-unsorted")

_T = TypeVar("_T")


@rule
def scopes_in_order(file: LintedFile) -> Iterator[Problem]:
    """``all`` first, then by the alphabet, facet by facet: a scope before those within it."""
    for table, keys in groupby(file.scopes, key=lambda key: key.table):
        for earlier, key in _steps_back(list(keys), lambda key: key.scope.ordered):
            message = f"{table}: scope {str(key.scope)!r} stands before {str(earlier.scope)!r}"
            yield Problem(key.line, SCOPES_UNSORTED, message, edit=Sort())


@rule
def names_in_order(file: LintedFile) -> Iterator[Problem]:
    """Model classes by the alphabet, as ``sorted`` has it."""
    for (table, scope), entries in groupby(file.entries, key=lambda e: (e.table, e.scope)):
        for earlier, entry in _steps_back(list(entries), lambda entry: entry.model_class):
            name = entry.model_class
            message = f"{table}[{str(scope)!r}]: {name} stands before {earlier.model_class}"
            yield Problem(entry.line, NAMES_UNSORTED, message, edit=Sort())


def _steps_back(items: Sequence[_T], key: Callable[[_T], Any]) -> Iterator[tuple[_T, _T]]:
    """Each item that belongs before the one above it, and that one."""
    for above, item in zip(items, items[1:], strict=False):
        if key(item) < key(above):
            yield above, item
