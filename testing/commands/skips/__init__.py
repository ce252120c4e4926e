"""``export-harness skips``: its own commands are the modules here, as those of `commands` are."""

from __future__ import annotations

import argparse
import pkgutil
from importlib import import_module
from typing import cast

from testing.commands.base import Command, Status, UsageError, add_json

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "skips"
SUMMARY = "Check, list and explain the entries of skips.py."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare its commands."""
    parser.set_defaults(command=None)
    choices = parser.add_subparsers(metavar="COMMAND")
    for command in _commands():
        sub = choices.add_parser(command.NAME, help=command.SUMMARY, description=command.SUMMARY)
        add_json(sub)
        sub.set_defaults(command=command)
        command.add_arguments(sub)


def run(options: argparse.Namespace) -> Status:
    """Run the one that was asked for."""
    command: Command | None = options.command
    if command is None:
        raise UsageError(f"skips needs one of: {', '.join(c.NAME for c in _commands())}")
    return command.run(options)


def _commands() -> list[Command]:
    found = [import_module(m.name) for m in pkgutil.iter_modules(__path__, f"{__name__}.")]
    return [cast(Command, module) for module in found if hasattr(module, "NAME")]
