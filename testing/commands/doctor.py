"""``export-harness doctor``: every op of a model, what becomes of it, and what to do."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from exporters import BACKENDS, get_backend
from exporters.base import BackendUnavailableError
from testing.checkpoint import CheckpointError, Source
from testing.commands.base import Status, UsageError, write, write_json
from testing.commands.run_options import add_checkpoint, positive, seconds, shard
from testing.doctor.errors import DoctorError

if TYPE_CHECKING:
    from testing.doctor.examining import DoctorRequest
    from testing.doctor.findings import Findings

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "doctor"
SUMMARY = "Say of each op of a model what becomes of it in a trace, and what to do about it."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which model is meant, or that all are."""
    parser.add_argument("model", nargs="?", metavar="MODEL_CLASS|CHECKPOINT")
    parser.add_argument("--all", action="store_true", help="every class; gives docs/lowering.md")
    parser.add_argument("--backend", choices=BACKENDS, default="neuron")
    parser.add_argument(
        "--sketch", action="store_true", help="print lowerings and patches to start from"
    )
    parser.add_argument("--shard", type=shard, metavar="I/N", help="one share of the classes")
    parser.add_argument("--workers", type=positive, metavar="N", help="default: one a core")
    parser.add_argument(
        "--journal", type=Path, metavar="FILE", help="of --all; default: in build/doctor/"
    )
    parser.add_argument(
        "--time-limit", type=seconds, default=300.0, metavar="SECONDS", help="default: 300"
    )
    add_checkpoint(parser)


def run(options: argparse.Namespace) -> Status:
    """Examine one model or all, and tell."""
    if bool(options.model) == options.all:
        raise UsageError("give one MODEL_CLASS or CHECKPOINT, or --all")
    try:
        return _all(options) if options.all else _one(options)
    except (DoctorError, CheckpointError, BackendUnavailableError) as error:
        raise UsageError(str(error)) from error


def _one(options: argparse.Namespace) -> Status:
    from testing.doctor import text
    from testing.doctor.examining import DoctorRequest

    source = _checkpoint(options)
    found = _examined(
        DoctorRequest(options.model, options.backend, source, options.sketch, options.time_limit)
    )
    if found.obstacle:
        raise DoctorError(f"{options.model} cannot be examined: {found.obstacle}")
    if options.json:
        write_json(found.to_dict())
    else:
        columns = shutil.get_terminal_size().columns
        write(text.shown(found, width=columns, color=sys.stdout.isatty()))
    return Status.FINDINGS if found.fails else Status.WELL


def _all(options: argparse.Namespace) -> Status:
    from testing.audit.journal import versions_here
    from testing.doctor import markdown
    from testing.doctor.all_classes import SweepRequest, examine_all
    from testing.doctor.journal import DEFAULT_PATH

    request = SweepRequest(
        backend=options.backend,
        shard=options.shard,
        journal=options.journal or DEFAULT_PATH,
        workers=options.workers,
        time_limit=options.time_limit,
    )
    found = examine_all(request, _examined)
    if options.json:
        rows = [one.to_dict() for one in found]
        write_json({"versions": versions_here(), "models": rows})
    else:
        write(markdown.page(found, versions_here()))
    return Status.FINDINGS if any(one.fails for one in found) else Status.WELL


def _examined(request: DoctorRequest) -> Findings:
    from testing.doctor.examining import examine
    from testing.execution.runner import server_of

    backend = get_backend(request.backend)
    if backend.diagnosed_on is None:
        raise DoctorError(f"{backend.name} has no diagnosis of ops")
    return examine(request, server_of(backend, backend.resolve_runtime(backend.diagnosed_on)))


def _checkpoint(options: argparse.Namespace) -> Source | None:
    """The checkpoint that is meant; None where a class is."""
    from testing import auto_classes
    from testing.model_classes import unknown_class

    name = options.model
    # Ids on the hub may look so as well, and those of classes are not in small letters.
    is_name = name.isidentifier() and not name.islower() and not os.path.isdir(name)
    if name in auto_classes.known_classes() or (is_name and unknown_class(name) is None):
        return None
    if is_name:
        raise DoctorError(f"{unknown_class(name)}; there is no directory {name} either")
    for known in auto_classes.known_classes():
        if known.lower() == name.lower() and not os.path.isdir(name):
            raise DoctorError(f"there is no directory {name}; the class is called {known}")
    source = Source(name, options.model_class, options.trust_remote_code, options.dtype)
    source.require()
    return source
