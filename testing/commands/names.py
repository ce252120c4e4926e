"""``export-harness names``: the committed lists of model types and classes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from testing import released
from testing.auto_classes import TransformersMissingError
from testing.commands.base import Status, write, write_json
from testing.versions import versions_of

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "names"
SUMMARY = "Compare the list of the installed transformers' model classes with the committed one."

_Names = Mapping[str, tuple[str, ...]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--write``."""
    parser.add_argument("--write", action="store_true", help="write the list of what is installed")


def run(options: argparse.Namespace) -> Status:
    """Write the list, or say in what it differs."""
    if options.write:
        path = released.write()
        write_json({"written": str(path)}) if options.json else write(f"wrote {path}")
        return Status.WELL
    version = versions_of(["transformers"]).get("transformers")
    if version is None:
        raise TransformersMissingError
    found = _differences(version)
    if options.json:
        write_json({"version": version, "supported": released.versions(), "differences": found})
    else:
        write("\n".join(found) or f"transformers {version}: as committed")
    return Status.FINDINGS if found else Status.WELL


def _differences(version: str) -> list[str]:
    """How what is installed differs from the list, one sentence a model type."""
    try:
        listed = released.classes_by_type(version)
    except released.UnsupportedVersionError as error:
        return [str(error)]
    here = released.installed()
    kinds = sorted(listed.keys() | here.keys())
    return [
        _difference(kind, listed, here) for kind in kinds if listed.get(kind) != here.get(kind)
    ]


def _difference(kind: str, listed: _Names, here: _Names) -> str:
    if kind not in listed:
        return f"{kind}: not in the list"
    if kind not in here:
        return f"{kind}: in the list, and not in transformers"
    return f"{kind}: listed with {', '.join(listed[kind])}; it has {', '.join(here[kind])}"
