"""Names of model classes: that they exist, and that something tests them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from testing.lint.file import LintedFile
from testing.lint.rules import rule
from testing.lint.tested import NamesUnderTest
from testing.registry.edits import Rename
from testing.registry.problems import BAD_NAME, Code, Problem
from testing.registry.skip_file import Entry
from testing.registry.spelling import is_known_class, known_classes, meant, nearest

__all__ = ["UNKNOWN_CLASS", "UNTESTED_CLASS"]

UNKNOWN_CLASS: Final = Code("S202", "unknown-class")
UNTESTED_CLASS: Final = Code("S203", "untested-class")


@rule
def unknown_classes(file: LintedFile) -> Iterator[Problem]:
    """A class that no supported transformers has."""
    told = _lines(file)
    for entry in file.entries:
        if entry.line not in told and not is_known_class(entry.model_class):
            yield _unknown(entry)


@rule
def untested_classes(file: LintedFile) -> Iterator[Problem]:
    """A class that no test exports, so that nothing would tell when its entry is stale."""
    if file.tests is None:
        return
    tested = NamesUnderTest.read(file.tests)
    told = _lines(file)
    for entry in file.entries:
        name = entry.model_class
        if entry.line not in told and is_known_class(name) and not tested.has(name):
            message = f"no test in {file.tests} exports {name}: name it in one"
            yield Problem(entry.line, UNTESTED_CLASS, message)


def _lines(file: LintedFile) -> set[int]:
    """Lines whose name is told to be wrong already."""
    return {problem.line for problem in file.problems if problem.code == BAD_NAME}


def _unknown(entry: Entry) -> Problem:
    name = entry.model_class
    near = nearest(name, known_classes())
    right = meant(name, known_classes())
    edit = Rename(entry.place, right) if right else None
    hint = f"; nearest: {', '.join(near)}" if near else ""
    message = f"no supported transformers has {name!a}{hint}"
    return Problem(entry.line, UNKNOWN_CLASS, message, near, edit)
