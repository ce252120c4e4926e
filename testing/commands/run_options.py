"""Options of commands that run cases, named as pytest's are."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from exporters import BACKENDS, get_backend
from exporters.base import Backend, Selection
from testing.checkpoint.source import DTYPES
from testing.shards import Shard, ShardError

if TYPE_CHECKING:
    from testing.audit.settings import AuditSettings

__all__ = [
    "add_checkpoint",
    "add_guard",
    "add_run_options",
    "add_selection",
    "positive",
    "seconds",
    "settings_of",
    "shard",
]

_SWITCH: Final = ("on", "off")
_LEAST_REPEAT: Final = 2


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Declare how often, how long and where cases run."""
    parser.add_argument("--shard", type=shard, metavar="I/N", help="one share of the classes")
    parser.add_argument(
        "--repeat",
        type=_repeat,
        default=3,
        metavar="N",
        help="runs of each case, each under another seed (default: 3)",
    )
    parser.add_argument(
        "--time-limit",
        type=seconds,
        default=1000.0,
        metavar="SECONDS",
        help="of each case (default: 1000)",
    )
    parser.add_argument("--workers", type=positive, metavar="N", help="default: one a core")
    parser.add_argument("--fresh", action="store_true", help="run again what was run before")
    parser.add_argument(
        "--neuron-runtime", choices=["auto", *get_backend("neuron").runtimes], default="auto"
    )
    add_selection(parser, "--lowerings", "lowering", Backend.lowering_names)


def add_selection(
    parser: argparse.ArgumentParser,
    option: str,
    what: str,
    names_of: Callable[[Backend], Sequence[str]],
) -> None:
    """Declare an option that is ``on``, ``off`` or names.

    Args:
        parser: The parser of a command.
        option: The option.
        what: What is named, ``trace patch``.
        names_of: The names that a backend knows.
    """

    def checked(text: str) -> str:
        known = [name for backend in BACKENDS for name in names_of(get_backend(backend))]
        for name in sorted(Selection.parse(text).names):
            if name not in known:
                told = f"no {what} is called {name!a}; there are: {', '.join(known)}"
                raise argparse.ArgumentTypeError(told)
        return text

    parser.add_argument(
        option, type=checked, default="on", metavar="on|off|NAME,…", help="default: on"
    )


def add_guard(parser: argparse.ArgumentParser, default: str) -> None:
    """Declare ``--lowering-guard``."""
    parser.add_argument(
        "--lowering-guard",
        choices=_SWITCH,
        default=default,
        help=f"raise where an op would kill the process (default: {default})",
    )


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Declare how a checkpoint is loaded."""
    parser.add_argument(
        "--model-class", metavar="NAME", help="to load it as; default: the one that it names"
    )
    parser.add_argument(
        "--dtype", choices=DTYPES, default="auto", help="of its weights; default: the file's"
    )
    parser.add_argument(
        "--trust-remote-code", action="store_true", help="run code that it brings along"
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


def shard(text: str) -> Shard:
    """The type of ``--shard``."""
    try:
        return Shard.parse(text)
    except ShardError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _repeat(text: str) -> int:
    if positive(text) < _LEAST_REPEAT:
        raise argparse.ArgumentTypeError("one run cannot tell what is stale from what is flaky")
    return int(text)


def positive(text: str) -> int:
    """The type of an option that counts something."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, not {text}")
    return int(text)


def seconds(text: str) -> float:
    """The type of a time limit."""
    try:
        count = float(text)
    except ValueError:
        count = 0.0
    if not 0 < count < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, not {text}")
    return count
