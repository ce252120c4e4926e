"""Options of commands that run cases, named as pytest's are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from exporters import get_backend
from testing.shards import Shard, ShardError

if TYPE_CHECKING:
    from testing.audit.settings import AuditSettings

__all__ = ["add_guard", "add_run_options", "settings_of"]

_SWITCH: Final = ("on", "off")
_LEAST_REPEAT: Final = 2


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Declare how often, how long and where cases run."""
    parser.add_argument("--shard", type=_shard, metavar="I/N", help="one share of the classes")
    parser.add_argument(
        "--repeat",
        type=_repeat,
        default=3,
        metavar="N",
        help="runs of each case, each under another seed (default: 3)",
    )
    parser.add_argument(
        "--time-limit",
        type=_seconds,
        default=1000.0,
        metavar="SECONDS",
        help="of each case (default: 1000)",
    )
    parser.add_argument("--workers", type=_positive, metavar="N", help="default: one a core")
    parser.add_argument("--fresh", action="store_true", help="run again what was run before")
    parser.add_argument(
        "--neuron-runtime", choices=["auto", *get_backend("neuron").runtimes], default="auto"
    )
    parser.add_argument("--lowerings", choices=_SWITCH, default="on", help="there are none yet")


def add_guard(parser: argparse.ArgumentParser, default: str) -> None:
    """Declare ``--lowering-guard``."""
    parser.add_argument(
        "--lowering-guard",
        choices=_SWITCH,
        default=default,
        help=f"raise where an op would kill the process (default: {default})",
    )


def settings_of(options: argparse.Namespace, trace_patches: str = "on") -> AuditSettings:
    """How cases are run, of the options that are declared here."""
    from testing.audit.settings import AuditSettings

    return AuditSettings(
        repeat=options.repeat,
        time_limit=options.time_limit,
        neuron_runtime=options.neuron_runtime,
        trace_patches=trace_patches,
        lowerings=options.lowerings,
        lowering_guard=options.lowering_guard == "on",
    )


def _shard(text: str) -> Shard:
    try:
        return Shard.parse(text)
    except ShardError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _repeat(text: str) -> int:
    if _positive(text) < _LEAST_REPEAT:
        raise argparse.ArgumentTypeError("one run cannot tell what is stale from what is flaky")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, not {text}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, not {text}")
    return seconds
