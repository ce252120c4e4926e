"""Characters that a reader of the file cannot see."""

from __future__ import annotations

from collections.abc import Iterator

from testing.lint.file import LintedFile, texts_of
from testing.lint.rules import rule
from testing.registry.edits import Clean
from testing.registry.problems import INVISIBLE, Problem
from testing.registry.spelling import is_visible

__all__: list[str] = []


@rule
def invisible_characters(file: LintedFile) -> Iterator[Problem]:
    """In the source; a name or a scope with one is told as such already."""
    told = {problem.line for problem in file.problems}
    text = file.text.removeprefix("\ufeff")
    for number, line in enumerate(text.split("\n"), start=1):
        hidden = sorted({c for c in line.removesuffix("\r") if not is_visible(c)})
        if hidden and number not in told:
            named = ", ".join(map(ascii, hidden))
            message = f"characters that cannot be seen: {named}; write spaces, or nothing"
            yield Problem(number, INVISIBLE, message, edit=Clean())


@rule
def escaped_characters(file: LintedFile) -> Iterator[Problem]:
    r"""In the text of an entry, written as ``"\u200b"``: reports would show nothing of it."""
    for entry in file.entries:
        found = {c for text in texts_of(entry.value) for c in text if not is_visible(c)}
        hidden = sorted(c for c in found if c not in file.text and c not in "\n\t")
        if hidden:
            named = ", ".join(map(ascii, hidden))
            message = f"{entry.model_class}: escapes of characters that cannot be seen: {named}"
            yield Problem(entry.line, INVISIBLE, message)
