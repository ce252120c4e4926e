"""A model class of transformers by its name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import transformers

from testing import auto_classes
from testing.tiny.errors import (
    MissingPackageError,
    NotAModelClassError,
    UnknownModelClassError,
)

__all__ = ["load_class"]


def load_class(name: str) -> Any:
    """The class called `name`.

    Raises:
        UnknownModelClassError: transformers has no such class.
        MissingPackageError: It stands for a class whose packages are not installed.
        NotAModelClassError: It is an auto class, a layer or another thing without configuration.
    """
    found = getattr(transformers, name, None) or _from_its_module(name)
    if found is None:
        raise UnknownModelClassError(name, auto_classes.nearest(name))
    # transformers puts an object with this attribute where a class's packages are missing.
    backends = getattr(found, "_backends", None)
    if backends:
        raise MissingPackageError(name, ", ".join(backends))
    if getattr(found, "config_class", None) is None:
        raise NotAModelClassError(name, is_auto=hasattr(found, "_model_mapping"))
    return found


def _from_its_module(name: str) -> Any:
    """A class that is not exported at the top level, or None."""
    module = auto_classes.module_of(name)
    return None if module is None else getattr(import_module(module), name, None)
