"""``skips lint``: what is wrong in the file, and with ``--fix`` the mending of it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from testing.commands.base import Status, UsageError, write, write_json
from testing.commands.skips.arguments import add_file, shown

if TYPE_CHECKING:
    from testing.lint import Report
    from testing.registry.problems import Problem

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "lint"
SUMMARY = "Find what is wrong in skips.py: names, scopes, reasons, references, dates, order."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the file, and whether it is mended."""
    add_file(parser)
    parser.add_argument("--fix", action="store_true", help="mend what needs no thought")
    parser.add_argument(
        "--tests", type=Path, metavar="DIR", help="of test modules; default: tests/models"
    )


def run(options: argparse.Namespace) -> Status:
    """Lint, mend where it was asked for, and tell."""
    from testing.lint import Linter

    path = shown(options.skips)
    before = _read(path)
    linter = Linter.of(path, _tests(options.tests))
    report = linter.fix(before) if options.fix else linter.lint(before)
    if report.data != before:
        _save(path, before, report.data)
    _tell(path, report, as_json=options.json)
    return Status.FINDINGS if report.problems else Status.WELL


def _tests(given: Path | None) -> Path | None:
    if given is not None and not given.is_dir():
        raise UsageError(f"there is no directory of tests {given}")
    return given


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _save(path: Path, before: bytes, after: bytes) -> None:
    from testing.registry.saving import SaveError, save

    try:
        save(path, before, after)
    except SaveError as error:
        raise UsageError(str(error)) from error


def _tell(path: Path, report: Report, *, as_json: bool) -> None:
    if as_json:
        write_json(
            {
                "path": str(path),
                "entries": report.entries,
                "fixed": report.mended,
                "findings": [_json(path, problem) for problem in report.problems],
            }
        )
    else:
        lines = [_line(path, problem) for problem in report.problems]
        write("\n".join([*lines, _summary(path, report)]))


def _json(path: Path, problem: Problem) -> dict[str, Any]:
    return {
        "path": str(path),
        "line": problem.line,
        "code": problem.code.number,
        "name": problem.code.name,
        "message": problem.message,
        "nearest": problem.nearest,
        "fixable": problem.edit is not None,
    }


def _line(path: Path, problem: Problem) -> str:
    mark = " [--fix]" if problem.edit is not None else ""
    return f"{path}:{problem.line}: {problem.code}: {problem.message}{mark}"


def _summary(path: Path, report: Report) -> str:
    mended = f"{report.mended} mended, " if report.mended else ""
    fixable = sum(problem.edit is not None for problem in report.problems)
    hint = f", {fixable} of them mended by --fix" if fixable else ""
    entries = _counted(report.entries, "entry", "entries")
    findings = _counted(len(report.problems), "finding", "findings")
    return f"{path}: {entries}, {mended}{findings}{hint}"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count or 'no'} {one if count == 1 else many}"
