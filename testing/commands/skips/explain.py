"""``skips explain``: which variants of a model class run, and why the others do not."""

from __future__ import annotations

import argparse
import sys

from testing.commands.base import Status, UsageError, write, write_json
from testing.commands.skips.arguments import add_audits, add_backend, add_file, shown

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "explain"
SUMMARY = "Say of each variant of a model class whether it runs, which entries apply, and why."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the class and the backends."""
    parser.add_argument("model_class", metavar="MODEL_CLASS")
    add_backend(parser)
    add_file(parser)
    add_audits(parser)


def run(options: argparse.Namespace) -> Status:
    """Explain."""
    from testing.explain.explanation import explain
    from testing.explain.history import Histories
    from testing.explain.text import explanation_text

    _check_backends(options.backend)
    path = shown(options.skips)
    histories = Histories.read(path, options.audits)
    explanation = explain(options.model_class, histories, options.backend)
    if not explanation.histories:
        _check_class(options.model_class)
    if options.json:
        write_json({"path": str(path), **explanation.to_dict()})
    else:
        write(explanation_text(explanation, path))
    for message in histories.audits.unreadable:
        sys.stderr.write(f"not an audit: {message}\n")
    return Status.WELL


def _check_backends(names: list[str]) -> None:
    from testing.scopes import vocabulary

    known = [facet for facet, group in vocabulary().items() if group == "backend"]
    for name in names:
        if name not in known:
            raise UsageError(f"no backend is called {name!a}; there are: {', '.join(known)}")


def _check_class(name: str) -> None:
    from testing.registry.spelling import is_known_class, known_classes, nearest

    if not is_known_class(name):
        close = ", ".join(nearest(name, known_classes()))
        hint = f"; nearest: {close}" if close else ""
        raise UsageError(f"no supported transformers has a model class {name!a}{hint}")
