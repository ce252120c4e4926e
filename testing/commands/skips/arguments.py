"""Arguments that the commands on ``skips.py`` share."""

from __future__ import annotations

import argparse
from pathlib import Path

from testing.registry import DEFAULT_PATH

__all__ = ["add_audits", "add_backend", "add_file", "shown"]


def add_file(parser: argparse.ArgumentParser) -> None:
    """``--skips FILE``."""
    parser.add_argument(
        "--skips", type=Path, default=DEFAULT_PATH, metavar="FILE", help="default: skips.py"
    )


def add_audits(parser: argparse.ArgumentParser) -> None:
    """``--audits DIR``."""
    from testing.registry.audits import DEFAULT_AUDITS

    parser.add_argument(
        "--audits",
        type=Path,
        default=DEFAULT_AUDITS,
        metavar="DIR",
        help="results of `skips audit`; default: build/audit",
    )


def add_backend(parser: argparse.ArgumentParser) -> None:
    """``--backend NAME``, repeatable."""
    parser.add_argument(
        "--backend", action="append", default=[], metavar="NAME", help="default: all; repeatable"
    )


def shown(path: Path) -> Path:
    """A path as a person reads it, below the working directory where it is there."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
