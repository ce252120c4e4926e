"""``skips prune``: take out what the last audit has found to be stale."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from testing.commands.base import Status, UsageError, write, write_json
from testing.commands.skips.arguments import add_audits, add_file, shown

if TYPE_CHECKING:
    from testing.audit.pruning import Pruning

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "prune"
SUMMARY = "Show, and with --apply make, the change that deletes the stale entries."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the file, where audits are, and whether it is written."""
    parser.add_argument("--apply", action="store_true", help="write the file")
    add_file(parser)
    add_audits(parser)


def run(options: argparse.Namespace) -> Status:
    """Print the diff, and write the file where that is asked for."""
    from testing.audit.errors import AuditError
    from testing.audit.journal import versions_here
    from testing.audit.pruning import prune
    from testing.registry.audits import Audits
    from testing.registry.saving import SaveError

    try:
        found = prune(shown(options.skips), Audits.read(options.audits), versions_here())
        if options.apply and found.removed:
            found.apply()
    except (AuditError, SaveError) as error:
        raise UsageError(str(error)) from error
    _tell(found, options)
    return Status.FINDINGS if found.removed and not options.apply else Status.WELL


def _tell(found: Pruning, options: argparse.Namespace) -> None:
    if options.json:
        write_json(_json(found, options.apply))
    elif found.removed:
        write(found.diff)
    for line in _remarks(found):
        sys.stderr.write(f"{line}\n")


def _remarks(found: Pruning) -> list[str]:
    lines = [] if found.removed else [f"{found.path}: no entry is known to be stale"]
    for entry in found.outdated:
        place = f"{found.path}:{entry.line}"
        lines.append(
            f"{place}: {entry.where} {entry.model_class} was stale with other versions; it stays"
        )
    return lines


def _json(found: Pruning, applied: bool) -> dict[str, Any]:
    changed = found.succession
    return {
        "path": str(found.path),
        "applied": applied and bool(found.removed),
        "removed": [str(entry) for entry in found.removed],
        "repointed": {str(entry): new for entry, (_, new) in changed.repointed.items()},
        "given_the_full_reason": [str(entry) for entry in changed.heirs],
        "outdated": [str(entry) for entry in found.outdated],
        "diff": found.diff,
    }
