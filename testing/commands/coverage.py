"""``export-harness coverage``: what is tested, what is not, and why."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from testing.commands.base import Status, UsageError, write, write_json
from testing.commands.run_options import positive, shard
from testing.coverage.errors import RequestError

if TYPE_CHECKING:
    from testing.coverage.gathering import Request
    from testing.coverage.record import Coverage

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "coverage"
SUMMARY = (
    "Say of each model class whether it is tested, whether its tiny model works, and why not."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is asked of which classes."""
    parser.add_argument("names", nargs="*", metavar="MODEL_TYPE_OR_CLASS", help="default: all")
    parser.add_argument("--markdown", action="store_true", help="as the page docs/coverage.md")
    parser.add_argument("--static", action="store_true", help="do not examine the tiny models")
    parser.add_argument(
        "--results", action="append", default=[], metavar="DIR", help="of a sweep; repeatable"
    )
    parser.add_argument("--shard", type=shard, metavar="I/N", help="one share of the classes")
    parser.add_argument("--workers", type=positive, metavar="N", help="default: one a core")
    parser.add_argument(
        "--journal",
        type=Path,
        metavar="FILE",
        help="where verdicts are kept, so that a run goes on; default: in build/coverage/",
    )
    parser.add_argument(
        "--tests", type=Path, metavar="DIR", help="of test modules; default: tests/models"
    )


def run(options: argparse.Namespace) -> Status:
    """Find out and tell."""
    # What this imports imports pytest; the other commands start without it.
    from testing.coverage.gathering import gather

    try:
        coverage = gather(_request(options))
    except RequestError as error:
        raise UsageError(str(error)) from error
    _tell(coverage, options)
    return Status.FINDINGS if coverage.has_findings else Status.WELL


def _request(options: argparse.Namespace) -> Request:
    from testing.coverage.gathering import Request

    return Request(
        names=tuple(options.names),
        shard=options.shard,
        tests=options.tests,
        results=tuple(options.results),
        is_static=options.static,
        journal=options.journal,
        workers=options.workers,
    )


def _tell(coverage: Coverage, options: argparse.Namespace) -> None:
    from testing.coverage import markdown, text

    if options.json:
        write_json(coverage.to_dict())
    elif options.markdown:
        write(markdown.page(coverage))
    else:
        write(text.details(coverage) if options.names else text.summary(coverage))
