"""The classes that a person names on the command line, by model type or class."""

from __future__ import annotations

from collections.abc import Iterable

from testing import auto_classes, released
from testing.coverage.errors import UnknownSelectionError

__all__ = ["selected"]


def selected(names: Iterable[str]) -> tuple[str, ...]:
    """The classes that are named, in the order of all; all of them where no name is given.

    A model type stands for the classes of its own, or for those that it borrows where it has none.

    Raises:
        UnknownSelectionError: A name is neither; the message gives the nearest.
        TransformersMissingError: It is not installed.
    """
    chosen = {model_class for name in names for model_class in _classes(name)}
    return tuple(sorted(chosen or auto_classes.known_classes()))


def _classes(name: str) -> tuple[str, ...]:
    if name in auto_classes.known_classes():
        return (name,)
    if name not in auto_classes.model_types():
        raise UnknownSelectionError(name, _elsewhere(name))
    return auto_classes.own_classes(name) or auto_classes.classes_of(name)


def _elsewhere(name: str) -> str:
    """Where a name is known, or what it may mean."""
    if versions := released.versions_with(name):
        return f"transformers {', '.join(versions)} has it, the installed one does not"
    close = ", ".join(released.nearest(name))
    return f"nearest: {close}" if close else "`export-harness coverage --static --json` lists all"
