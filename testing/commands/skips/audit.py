"""``skips audit``: run what the entries skip, and say which of them are still needed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from exporters.base import Backend
from testing.commands.base import Status, UsageError, write, write_json
from testing.commands.run_options import (
    add_guard,
    add_run_options,
    add_selection,
    settings_of,
)
from testing.commands.skips.arguments import add_audits, add_file, shown
from testing.scopes import Scope, ScopeError

if TYPE_CHECKING:
    from testing.audit.auditing import AuditRequest
    from testing.audit.record import Audit
    from testing.audit.selection import Filter

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "audit"
SUMMARY = "Run every case that an entry skips and say which entries are stale."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which entries are meant and how their cases are run."""
    parser.add_argument("model_classes", nargs="*", metavar="MODEL_CLASS", help="default: all")
    parser.add_argument(
        "--scope",
        type=_scope,
        action="append",
        default=[],
        help="under this scope and those within it; repeatable",
    )
    parser.add_argument(
        "--kind", action="append", default=[], choices=_kinds(), help="repeatable; default: all"
    )
    parser.add_argument("--markdown", action="store_true", help="as a pull request's comment")
    parser.add_argument(
        "--tests", type=Path, metavar="DIR", help="of test modules; default: tests/models"
    )
    add_file(parser)
    add_audits(parser)
    add_run_options(parser)
    add_selection(parser, "--trace-patches", "trace patch", Backend.patch_names)
    add_guard(parser, default="on")


def run(options: argparse.Namespace) -> Status:
    """Audit and tell; an interrupted audit tells what it has."""
    from testing.audit.auditing import audit
    from testing.audit.errors import AuditError
    from testing.audit.progress import told_to
    from testing.coverage.errors import RequestError
    from testing.execution import execute

    try:
        found = audit(_request(options), execute, told_to())
    except (AuditError, RequestError) as error:
        raise UsageError(str(error)) from error
    _tell(found, options)
    if not found.is_whole:
        raise KeyboardInterrupt
    return Status.FINDINGS if found.has_findings else Status.WELL


def _request(options: argparse.Namespace) -> AuditRequest:
    from testing.audit.auditing import AuditRequest
    from testing.coverage.declared import DEFAULT_TESTS

    return AuditRequest(
        skips=shown(options.skips),
        wanted=_filter(options),
        settings=settings_of(options, options.trace_patches),
        tests=options.tests or DEFAULT_TESTS,
        directory=options.audits,
        workers=options.workers,
        is_fresh=options.fresh,
    )


def _filter(options: argparse.Namespace) -> Filter:
    from testing.audit.selection import Filter

    return Filter(
        model_classes=tuple(options.model_classes),
        scopes=tuple(options.scope),
        kinds=tuple(options.kind),
        shard=options.shard,
    )


def _tell(found: Audit, options: argparse.Namespace) -> None:
    from testing.audit import markdown, text

    if options.json:
        write_json(found.to_dict())
    else:
        write(markdown.comment(found) if options.markdown else text.summary(found))


def _kinds() -> tuple[str, ...]:
    from testing.registry.values import KINDS

    return KINDS


def _scope(text: str) -> Scope:
    try:
        return Scope.parse(text)
    except ScopeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
