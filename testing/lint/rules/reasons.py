"""Reasons: that they say something, and that what they refer to says it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from testing.lint.file import LintedFile
from testing.lint.rules import rule
from testing.registry.edits import Repoint
from testing.registry.problems import Code, Problem
from testing.registry.references import holders, is_full, reference_of
from testing.registry.skip_file import Entry
from testing.registry.spelling import known_classes, meant, nearest

__all__ = ["CHAINED", "CIRCULAR", "DANGLING", "SHORT"]

SHORT: Final = Code("S302", "short-reason")
DANGLING: Final = Code("S303", "dangling-reference")
CHAINED: Final = Code("S304", "chained-reference")
CIRCULAR: Final = Code("S305", "circular-reference")

# "drifts" and "SIGSEGV" say what happens; "fails" says no more than the entry itself.
_FEWEST_LETTERS: Final = 6
_SAY_NOTHING: Final = frozenset(
    [
        "broken", "does not work", "doesn't work", "fixme", "known issue", "not supported",
        "not working", "same as above", "see above", "skipped", "to be done", "unknown",
        "unsupported",
    ]
)  # fmt: skip


@rule
def short_reasons(file: LintedFile) -> Iterator[Problem]:
    """A reason from which nobody learns what was measured."""
    for entry in file.entries:
        said = entry.reason.strip(" .!").lower()
        letters = sum(char.isalnum() for char in said)
        if letters < _FEWEST_LETTERS or said in _SAY_NOTHING:
            message = (
                f"{entry.model_class}: {entry.reason!a} does not say what was measured: name the "
                "op, the line, the signal or the figure"
            )
            yield Problem(entry.line, SHORT, message)


@rule
def references(file: LintedFile) -> Iterator[Problem]:
    """``Same as `X`.`` where X does not itself say why."""
    for entry in file.entries:
        if not is_full(entry):
            yield from _reference(entry, file)


def _reference(entry: Entry, file: LintedFile) -> Iterator[Problem]:
    *way, last = _path(entry, file)
    if not way:
        yield _dangling(entry, file)
    elif last in way:
        names = " -> ".join(step.model_class for step in [*way, last])
        message = f"{_where(entry)} goes round in a circle, {names}: say the cause in one of them"
        yield Problem(entry.line, CIRCULAR, message)
    elif len(way) > 1 or not is_full(last):
        yield _chained(entry, [*way, last][1], last, file)


def _dangling(entry: Entry, file: LintedFile) -> Problem:
    name = reference_of(entry.reason) or ""
    near = nearest(name, _full_names(entry, file))
    # A misspelt name is mended first, and what refers to it afterwards.
    right = meant(name, known_classes().intersection(near))
    message = (
        f"{_where(entry)} refers to {name}, which has no entry of its own cause in {entry.table} "
        f"under a scope with a case in common{_hint(near)}"
    )
    edit = Repoint(entry.place, name, right) if right else None
    return Problem(entry.line, DANGLING, message, near, edit)


def _chained(entry: Entry, middle: Entry, last: Entry, file: LintedFile) -> Problem:
    first, name = middle.model_class, last.model_class
    message = f"{_where(entry)} refers to {first}, which does not say the cause itself"
    if name not in _full_names(entry, file):
        return Problem(entry.line, CHAINED, f"{message}; say it in one of them")
    edit = Repoint(entry.place, first, name)
    return Problem(entry.line, CHAINED, f"{message}; refer to {name}", (name,), edit)


def _where(entry: Entry) -> str:
    return f"{entry.model_class} under {str(entry.scope)!r}"


def _full_names(entry: Entry, file: LintedFile) -> set[str]:
    """Classes that `entry` may refer to."""
    names = {other.model_class for other in file.entries_of(entry.table) if is_full(other)}
    return {name for name in names if any(map(is_full, holders(entry, name, file.entries)))}


def _hint(names: tuple[str, ...]) -> str:
    return f"; nearest: {', '.join(names)}" if names else ""


def _path(entry: Entry, file: LintedFile) -> list[Entry]:
    """The entries that one goes through from `entry` to a full reason, or back to one of them."""
    path = [entry]
    while not is_full(path[-1]) and path[-1] not in path[:-1]:
        name = reference_of(path[-1].reason) or ""
        found = sorted(holders(path[-1], name, file.entries), key=is_full, reverse=True)
        if not found:
            break
        path.append(found[0])
    return path
