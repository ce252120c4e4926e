"""``skips list``: entries by scope, kind, age and issue."""

from __future__ import annotations

import argparse
import datetime
from typing import TYPE_CHECKING

from testing.commands.base import Status, UsageError, write, write_json
from testing.commands.skips.arguments import add_audits, add_file, shown
from testing.registry.values import KINDS

if TYPE_CHECKING:
    from testing.explain.history import Histories
    from testing.registry import Entry

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "list"
SUMMARY = "List entries of skips.py; several filters must all hold."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the filters."""
    parser.add_argument("--scope", metavar="SCOPE", help="under this scope and those within it")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--issue", metavar="TEXT", help="with this text in the link to an issue")
    parser.add_argument("--older-than", type=_days, metavar="DAYS", help="in the file for longer")
    parser.add_argument("--newer-than", type=_days, metavar="DAYS", help="and not for as long")
    add_file(parser)
    add_audits(parser)


def run(options: argparse.Namespace) -> Status:
    """List what passes every filter."""
    from testing.explain.history import Histories
    from testing.explain.text import list_text

    path = shown(options.skips)
    histories = Histories.read(path, options.audits)
    has_age = options.older_than is not None or options.newer_than is not None
    if has_age and not histories.has_dates:
        raise UsageError(f"git does not know {path}, so that nobody can say how old entries are")
    found = [histories.of(e) for e in _chosen(histories, options)]
    if options.json:
        write_json({"path": str(path), "entries": [history.to_dict() for history in found]})
    else:
        write(list_text(found, path))
    return Status.WELL


def _chosen(histories: Histories, options: argparse.Namespace) -> list[Entry]:
    entries = list(histories.registry.entries)
    if options.scope is not None:
        entries = _within(entries, options.scope)
    if options.kind is not None:
        entries = [e for e in entries if getattr(e.value, "kind", None) == options.kind]
    if options.issue is not None:
        entries = [e for e in entries if options.issue in (e.value.issue or "")]
    today = datetime.datetime.now(datetime.timezone.utc).date()
    if options.older_than is not None:
        entries = [e for e in entries if histories.age(e, today) > options.older_than]
    if options.newer_than is not None:
        entries = [e for e in entries if histories.age(e, today) < options.newer_than]
    return entries


def _within(entries: list[Entry], text: str) -> list[Entry]:
    from testing.scopes import Scope, ScopeError

    try:
        scope = Scope.parse(text)
    except ScopeError as error:
        raise UsageError(f"--scope: {error}") from error
    return [e for e in entries if scope <= e.scope or scope.covers(e.scope)]


def _days(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number of days, not {text}")
    return int(text)
