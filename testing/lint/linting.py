"""Lints a file, and mends what needs no thought."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from testing.lint.file import LintedFile
from testing.lint.rules import all_rules
from testing.registry.edits import Clean, Sort
from testing.registry.problems import Problem, SkipFileError
from testing.registry.skip_file import parse

__all__ = ["DEFAULT_TESTS", "Linter", "Report"]

DEFAULT_TESTS: Final = Path(__file__).resolve().parents[2] / "tests" / "models"

_MOST_ROUNDS: Final = 10


@dataclass(frozen=True)
class Report:
    """What was found in a text.

    Attributes:
        data: The text's bytes.
        problems: By line.
        entries: How many entries were read.
        mended: How many problems are gone that were there before.
    """

    data: bytes
    problems: tuple[Problem, ...]
    entries: int = 0
    mended: int = 0


@dataclass(frozen=True)
class Linter:
    """Lints one file.

    Attributes:
        path: The file, for messages.
        today: The day to which dates are compared.
        tests: Directory of the test modules; None leaves out the rule about tests.
    """

    path: Path
    today: datetime.date
    tests: Path | None = None

    @classmethod
    def of(cls, path: Path, tests: Path | None = None) -> Linter:
        """The linter of a file today, with the harness's own tests where they are there."""
        found = tests or (DEFAULT_TESTS if DEFAULT_TESTS.is_dir() else None)
        return cls(path, datetime.date.today(), found)

    def lint(self, data: bytes) -> Report:
        """Every problem of a text."""
        try:
            contents = parse(self.path, data)
        except SkipFileError as error:
            return Report(data, error.problems)
        file = LintedFile(
            text=contents.text,
            entries=contents.entries,
            scopes=contents.scopes,
            problems=contents.problems,
            today=self.today,
            tests=self.tests,
        )
        found = [*file.problems, *(p for rule in all_rules() for p in rule(file))]
        return Report(data, tuple(sorted(found, key=_order)), len(contents.entries))

    def fix(self, data: bytes) -> Report:
        """What is left after every edit that needs no thought; its `data` has them."""
        report = self.lint(data)
        mended = 0
        for _ in range(_MOST_ROUNDS):
            chosen = _first_kind(report.problems)
            changed = _mended(report.data, chosen)
            if changed == report.data:
                break
            mended += len(chosen)
            report = self.lint(changed)
        return dataclasses.replace(report, mended=mended)


def _order(problem: Problem) -> tuple[int, str]:
    return problem.line, problem.code.number


def _mended(data: bytes, problems: Iterable[Problem]) -> bytes:
    """The text after the edits of some problems."""
    edits = {problem.edit: None for problem in problems if problem.edit is not None}
    if not edits:
        return data
    from testing.registry.rewriting import rewritten

    return rewritten(data.decode("utf-8"), edits).encode("utf-8")


def _first_kind(problems: Iterable[Problem]) -> list[Problem]:
    """Those to be mended next: each kind of edit moves what the next kind refers to."""
    fixable = [problem for problem in problems if problem.edit is not None]
    clean = [problem for problem in fixable if isinstance(problem.edit, Clean)]
    moved = [problem for problem in fixable if not isinstance(problem.edit, Clean | Sort)]
    return clean or moved or fixable
