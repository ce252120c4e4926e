"""Entries that change nothing, because a broader one applies wherever they do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from testing.lint.file import LintedFile
from testing.lint.rules import rule
from testing.registry.edits import Remove
from testing.registry.problems import Code, Problem
from testing.registry.skip_file import EXPORT_SKIPS, ONNX_DISABLE_OPTIMIZE, Entry

__all__ = ["SHADOWED"]

SHADOWED: Final = Code("S401", "shadowed")


@rule
def shadowed_entries(file: LintedFile) -> Iterator[Problem]:
    """An entry whose every case a broader one skips; of tolerances the narrowest counts."""
    for table in (EXPORT_SKIPS, ONNX_DISABLE_OPTIMIZE):
        entries = tuple(file.entries_of(table))
        for entry in entries:
            broader = _broader(entry, entries)
            if broader:
                yield _shadowed(entry, broader)


def _broader(entry: Entry, entries: Iterable[Entry]) -> Entry | None:
    same = (other for other in entries if other.model_class == entry.model_class)
    return next((other for other in same if _hides(other, entry)), None)


def _hides(other: Entry, entry: Entry) -> bool:
    if other is entry or not _always_applies(other, entry):
        return False
    # What is skipped has no figures either.
    has_figures = entry.scope.is_exactness and not other.scope.is_exactness
    scope = entry.scope.without_exactness if has_figures else entry.scope
    if not other.scope.covers(scope):
        return False
    # `xla` and `neuron.xla` are the same cases: the first in the file stays.
    is_mutual = not has_figures and scope.covers(other.scope)
    return not is_mutual or other.place < entry.place


def _always_applies(other: Entry, entry: Entry) -> bool:
    """Whether `other` applies whenever `entry` does, as far as their conditions go."""
    is_same_when = other.value.when in (None, entry.value.when)
    return is_same_when and other.value.component in (None, entry.value.component)


def _shadowed(entry: Entry, broader: Entry) -> Problem:
    message = (
        f"{entry.model_class} under {str(entry.scope)!r} changes nothing: line {broader.line} "
        f"has it under {str(broader.scope)!r}; delete one of them"
    )
    # Where the reasons differ, a person has to say which one is right.
    edit = Remove(entry.place) if entry.value == broader.value else None
    return Problem(entry.line, SHADOWED, message, edit=edit)
