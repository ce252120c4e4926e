"""What is wrong in a file of skips: codes that stay the same, and where each was found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from testing.registry.edits import Edit

__all__ = [
    "BAD_NAME",
    "BAD_UNTIL",
    "BAD_WHEN",
    "DUPLICATE_KEY",
    "EMPTY_REASON",
    "FACET_ORDER",
    "IMPOSSIBLE_SCOPE",
    "INVISIBLE",
    "NOT_DATA",
    "SYNTAX",
    "UNKNOWN_SCOPE",
    "UNKNOWN_TABLE",
    "UNREADABLE",
    "WRONG_TYPE",
    "Code",
    "Problem",
    "SkipFileError",
]


class Code(NamedTuple):
    """A kind of problem.

    Attributes:
        number: Such as ``S101``; once given, it means nothing else.
        name: Such as ``unknown-scope``.
    """

    number: str
    name: str

    def __str__(self) -> str:
        return f"{self.number} {self.name}"


# Those with which a file cannot be trusted; the others are beside the rules in `testing.lint`.
UNREADABLE: Final = Code("S001", "unreadable")
SYNTAX: Final = Code("S002", "syntax")
INVISIBLE: Final = Code("S003", "invisible")
NOT_DATA: Final = Code("S004", "not-data")
UNKNOWN_TABLE: Final = Code("S005", "unknown-table")
WRONG_TYPE: Final = Code("S006", "wrong-type")
DUPLICATE_KEY: Final = Code("S007", "duplicate-key")
UNKNOWN_SCOPE: Final = Code("S101", "unknown-scope")
IMPOSSIBLE_SCOPE: Final = Code("S102", "impossible-scope")
FACET_ORDER: Final = Code("S103", "facet-order")
BAD_NAME: Final = Code("S201", "bad-name")
EMPTY_REASON: Final = Code("S301", "empty-reason")
BAD_UNTIL: Final = Code("S501", "bad-until")
BAD_WHEN: Final = Code("S503", "bad-when")


@dataclass(frozen=True)
class Problem:
    """Something wrong in the file.

    Attributes:
        line: Where, from 1.
        code: What kind.
        message: What is wrong and what to do.
        nearest: The known names or scopes most like one that is not known, best first.
        edit: What mends it, where that needs no thought.
    """

    line: int
    code: Code
    message: str
    nearest: tuple[str, ...] = ()
    edit: Edit | None = None


class SkipFileError(ValueError):
    """A file of skips that cannot be trusted; the message gives ``file:line`` of each problem."""

    def __init__(self, path: Path, problems: tuple[Problem, ...]) -> None:
        lines = [f"{path}:{p.line}: {p.message} [{p.code}]" for p in problems]
        super().__init__("\n".join(lines))
        self.path = path
        self.problems = problems
