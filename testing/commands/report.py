"""``export-harness report``: what a run found, and what changed since another one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from testing.commands.base import Status, UsageError, write, write_json

if TYPE_CHECKING:
    from testing.reports.changes import Comparison, Kind
    from testing.reports.report import Report
    from testing.reports.sweep import Sweep

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "report"
SUMMARY = (
    "Tell what a run found, and with --against what changed since another one; writes report.html."
)

_STANDARD_OUTPUT: Final = "-"
_ALSO: Final = ("cause", "worse", "slower")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which results are meant, against which, and what is written."""
    parser.epilog = (
        "exit status: 1 only where --against finds a regression: a case that newly fails, has "
        "vanished, or neither passes nor fails any more without an entry of skips.py; what "
        "--fail-on names is one too. 0 otherwise, 2 for wrong use, no results included."
    )
    parser.add_argument(
        "directories",
        nargs="+",
        metavar="DIR",
        help="of --results; of a case in several, what was written last counts",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="default: DIR/report.html")
    parser.add_argument(
        "--markdown",
        nargs="?",
        const=_STANDARD_OUTPUT,
        metavar="FILE",
        help="as a CI's step summary; without a file, in place of the text",
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="as JUnit XML")
    _add_comparison(parser)


def _add_comparison(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--against", action="append", metavar="DIR", help="an earlier run's; repeatable"
    )
    parser.add_argument(
        "--slower",
        type=_factor,
        default=2.0,
        metavar="FACTOR",
        help="tell cases that take this much longer, and at least 5 s (default: 2)",
    )
    parser.add_argument(
        "--worse",
        type=_factor,
        default=10.0,
        metavar="FACTOR",
        help="tell outputs that are this much further off, from 1e-6 on (default: 10)",
    )
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        choices=_ALSO,
        help="counts as a regression too: another cause of a failure, or these figures",
    )


def run(options: argparse.Namespace) -> Status:
    """Read, compare, write and tell."""
    from testing.reports.report import Report

    sweep = _load(options.directories)
    report = Report(sweep, _comparison(sweep, options))
    written = _write_files(report, options)
    _tell(report, written, options)
    is_worse = report.comparison is not None and report.comparison.has_regressions
    return Status.FINDINGS if is_worse else Status.WELL


def _load(directories: list[str]) -> Sweep:
    from testing.reports.sweep import NoResultsError, Sweep

    try:
        return Sweep.load(directories)
    except NoResultsError as error:
        raise UsageError(str(error)) from error


def _comparison(sweep: Sweep, options: argparse.Namespace) -> Comparison | None:
    from testing.reports.changes import REGRESSIONS, Comparison, Limits

    if not options.against:
        return None
    limits = Limits(slower=options.slower, worse=options.worse)
    regressions = REGRESSIONS | {_kind(name) for name in options.fail_on}
    return Comparison.of(sweep, _load(options.against), limits, regressions)


def _kind(name: str) -> Kind:
    from testing.reports.changes import Kind

    return {"cause": Kind.OTHER_CAUSE, "worse": Kind.WORSE, "slower": Kind.SLOWER}[name]


def _write_files(report: Report, options: argparse.Namespace) -> list[Path]:
    """Write what was asked for, and say where."""
    from testing.reports import junit, markdown
    from testing.reports.page import page

    html = options.html or Path(options.directories[0]) / "report.html"
    texts = {html: page.render(report)}
    if options.markdown not in (None, _STANDARD_OUTPUT):
        texts[Path(options.markdown)] = markdown.page(report)
    if options.junit:
        texts[options.junit] = junit.document(report)
    for path, text in texts.items():
        _write_file(path, text)
    return list(texts)


def _write_file(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        told = f"{path} cannot be written ({error.strerror}): name another file"
        raise UsageError(told) from error


def _tell(report: Report, written: list[Path], options: argparse.Namespace) -> None:
    from testing.reports import markdown, text

    files = "wrote " + ", ".join(map(str, written))
    if options.json:
        write_json({**report.to_dict(), "written": list(map(str, written))})
    elif options.markdown == _STANDARD_OUTPUT:
        write(markdown.page(report))
        sys.stderr.write(f"{files}\n")
    else:
        write(f"{text.told(report)}\n{files}")


def _factor(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 1 <= factor < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a factor of 1 or more, not {text}")
    return factor
