"""What every command is."""

from __future__ import annotations

import argparse
import codecs
import json
import math
import sys
from enum import IntEnum
from typing import Any, Protocol

__all__ = ["Command", "Status", "UsageError", "add_json", "write", "write_json"]


class Status(IntEnum):
    """Exit status of a command."""

    WELL = 0
    FINDINGS = 1
    WRONG_USE = 2


class UsageError(Exception):
    """A command was asked for what it cannot do; the message says what to write instead."""


class Command(Protocol):
    """What a module of `testing.commands` gives.

    Attributes:
        NAME: As it is typed.
        SUMMARY: One line for the help.
    """

    NAME: str
    SUMMARY: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare its arguments; ``--json`` is there already."""

    def run(self, options: argparse.Namespace) -> Status:
        """Do it; what it finds goes to standard output."""


def add_json(parser: argparse.ArgumentParser) -> None:
    """Give a parser ``--json``; a command with commands of its own gives it to each of them."""
    # Not False by default: a parser below would take back what the one above it was given.
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="as one JSON object"
    )


def write(text: str) -> None:
    """A text on standard output, with a line's end."""
    # A character that the terminal does not have is shown escaped, and ends no command.
    shown = text.encode(_encoding(), "backslashreplace").decode(_encoding())
    sys.stdout.write(shown if shown.endswith("\n") else f"{shown}\n")


def write_json(value: Any) -> None:
    """A JSON object on standard output; figures that JSON has no number for become strings."""
    is_ascii = codecs.lookup(_encoding()).name != "utf-8"
    write(json.dumps(_finite(value), indent=2, ensure_ascii=is_ascii, allow_nan=False))


def _finite(value: Any) -> Any:
    """The value with text in place of infinities and NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value


def _encoding() -> str:
    return sys.stdout.encoding or "utf-8"
