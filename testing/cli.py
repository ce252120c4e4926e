"""The command line, ``export-harness``: each module of `testing.commands` is one command."""

from __future__ import annotations

import argparse
import os
import pkgutil
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import cast

from exporters import BROKEN
from testing import commands
from testing.auto_classes import TransformersMissingError
from testing.commands.base import Command, Status, UsageError, add_json
from testing.registry import SkipFileError

__all__ = ["main"]

_WRONG_USE = (UsageError, TransformersMissingError, SkipFileError)
_INTERRUPTED = 128 + 2
_PREFIX = f"{commands.__name__}."


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: Arguments after the program's name; those of the process by default.

    Returns:
        0 where all is well, 1 where something was found, 2 where it was called wrongly, as a
        shell has it where it was interrupted.
    """
    for left_out in BROKEN.values():
        sys.stderr.write(f"export-harness: left out: {left_out}\n")
    try:
        options = _parser().parse_args(argv)
        status: Status = options.run(options)
    except SystemExit as end:  # argparse has written why
        return end.code if isinstance(end.code, int) else Status.WRONG_USE
    except _WRONG_USE as error:
        sys.stderr.write(f"export-harness: error: {error}\n")
        return Status.WRONG_USE
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader, such as `head`, has enough; at its exit Python would complain once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Status.WELL
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="export-harness",
        description="What the harness knows of the model classes of transformers.",
        epilog="exit status: 0 all is well, 1 something was found, 2 wrong use",
    )
    parser.set_defaults(json=False)
    choices = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in _commands():
        sub = choices.add_parser(command.NAME, help=command.SUMMARY, description=command.SUMMARY)
        add_json(sub)
        sub.set_defaults(run=command.run)
        command.add_arguments(sub)
    return parser


def _commands() -> list[Command]:
    found = [import_module(m.name) for m in pkgutil.iter_modules(commands.__path__, _PREFIX)]
    return [cast(Command, module) for module in found if hasattr(module, "NAME")]


if __name__ == "__main__":
    raise SystemExit(main())
