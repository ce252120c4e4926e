"""``export-harness check``: a real checkpoint, traced, run and compared."""

from __future__ import annotations

import argparse

from exporters import BACKENDS, get_backend
from exporters.base import BackendUnavailableError
from testing.checkpoint import CheckpointError, Source
from testing.commands.base import Status, UsageError, write, write_json
from testing.commands.run_options import add_checkpoint, seconds

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "check"
SUMMARY = "Trace a real checkpoint without and with patches and lowerings, and compare."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which checkpoint is meant and how it is told."""
    parser.add_argument(
        "checkpoint", metavar="CHECKPOINT", help="a directory, or an id of the hub"
    )
    parser.add_argument("--markdown", action="store_true", help="as a table of a pull request")
    parser.add_argument("--backend", choices=BACKENDS, default="neuron")
    parser.add_argument(
        "--neuron-runtime", choices=["auto", *get_backend("neuron").runtimes], default="auto"
    )
    parser.add_argument(
        "--time-limit", type=seconds, default=1000.0, metavar="SECONDS", help="default: 1000"
    )
    add_checkpoint(parser)


def run(options: argparse.Namespace) -> Status:
    """Check and tell."""
    from testing.check import report
    from testing.check.checking import CheckRequest, check

    source = Source(
        options.checkpoint, options.model_class, options.trust_remote_code, options.dtype
    )
    request = CheckRequest(source, options.backend, options.neuron_runtime, options.time_limit)
    try:
        found = check(request)
    except (CheckpointError, BackendUnavailableError) as error:
        raise UsageError(str(error)) from error
    if options.json:
        write_json(found.to_dict())
    else:
        write(report.markdown(found) if options.markdown else report.text(found))
    return Status.WELL if found.is_well else Status.FINDINGS
