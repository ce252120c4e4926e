"""What the rules do not give: small declared exceptions per model type or class.

Each area of models has a file with its part of these tables. A key is a model type or a class;
each entry says why.

- `CHANGES`: arguments of a configuration. One that alters what the forward does, and not only
  sizes, has ``tames`` set: it is counted in every summary and does not count as reached.
- `INPUTS`: rules for inputs that the general rules do not make.
- `OMITTED`: inputs that a tiny model is not given.
- `UNUSED`: inputs that it takes but that reach no output.
- `INFINITE`: outputs in which a model marks what is not there by an infinity.
- `LARGE`: models beyond the limits of a tiny one, with the figure.
- `UNINITIALISED`: classes whose own initialisation raises, which no loaded checkpoint runs.
- `IMPOSSIBLE`: classes that nothing here can run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from testing.tiny.exceptions import (
    audio,
    encoder_decoders,
    image_text,
    other,
    text_decoders,
    text_encoders,
    vision,
    vision_language,
)
from testing.tiny.exceptions.change import Change

__all__ = [
    "CHANGES",
    "IMPOSSIBLE",
    "INFINITE",
    "INPUTS",
    "LARGE",
    "OMITTED",
    "UNINITIALISED",
    "UNUSED",
    "Change",
    "changes_of",
    "impossible",
    "infinite_of",
    "large",
    "omitted_of",
    "rules_of",
    "uninitialised",
    "unused_of",
]

_AREAS: Final = (
    text_encoders,
    text_decoders,
    encoder_decoders,
    vision,
    audio,
    image_text,
    vision_language,
    other,
)


def _merged(table: str) -> dict[str, Any]:
    """A table of all areas.

    Raises:
        ValueError: Two areas have an entry of one key.
    """
    merged: dict[str, Any] = {}
    for area in _AREAS:
        entries = getattr(area, table, {})
        twice = merged.keys() & entries.keys()
        if twice:
            raise ValueError(f"{area.__name__}.{table}: {', '.join(twice)} stands twice")
        merged.update(entries)
    return merged


CHANGES: Final[Mapping[str, tuple[Change, ...]]] = _merged("CHANGES")
OMITTED: Final[Mapping[str, Mapping[str, str]]] = _merged("OMITTED")
UNUSED: Final[Mapping[str, Mapping[str, str]]] = _merged("UNUSED")
INFINITE: Final[Mapping[str, Mapping[str, str]]] = _merged("INFINITE")
INPUTS: Final[Mapping[str, Mapping[str, Any]]] = _merged("INPUTS")
LARGE: Final[Mapping[str, str]] = _merged("LARGE")
UNINITIALISED: Final[Mapping[str, str]] = _merged("UNINITIALISED")
IMPOSSIBLE: Final[Mapping[str, str]] = _merged("IMPOSSIBLE")


def changes_of(model_type: str, model_class: str) -> tuple[Change, ...]:
    """The changes of a model type, then those of a class."""
    return CHANGES.get(model_type, ()) + CHANGES.get(model_class, ())


def omitted_of(model_type: str, model_class: str) -> Mapping[str, str]:
    """Inputs that a class is not given, each with why."""
    return _both(OMITTED, model_type, model_class)


def unused_of(model_type: str, model_class: str) -> Mapping[str, str]:
    """Inputs of a class that no output depends on, each with why."""
    return _both(UNUSED, model_type, model_class)


def infinite_of(model_type: str, model_class: str) -> Mapping[str, str]:
    """Outputs of a class that hold infinities by its definition, each with why."""
    return _both(INFINITE, model_type, model_class)


def rules_of(model_type: str, model_class: str) -> Mapping[str, Any]:
    """Rules for inputs of a class, which come before the general ones."""
    return _both(INPUTS, model_type, model_class)


def large(model_type: str, model_class: str) -> str | None:
    """Why a model is beyond the limits of size or time, with the figure; None where it is not."""
    return LARGE.get(model_class) or LARGE.get(model_type)


def uninitialised(model_type: str, model_class: str) -> str | None:
    """Why a class is built without its own initialisation; None where it is built with it."""
    return UNINITIALISED.get(model_class) or UNINITIALISED.get(model_type)


def impossible(model_type: str, model_class: str) -> str | None:
    """Why no model of a class can be run anywhere here; None where one can."""
    return IMPOSSIBLE.get(model_class) or IMPOSSIBLE.get(model_type)


def _both(
    table: Mapping[str, Mapping[str, Any]], model_type: str, model_class: str
) -> Mapping[str, Any]:
    return {**table.get(model_type, {}), **table.get(model_class, {})}
