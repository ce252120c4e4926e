"""Import a module by name, or by path when the name alone does not lead to its file."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from dataclasses import dataclass
from types import ModuleType

__all__ = ["ModuleSpec", "load_module"]


@dataclass(frozen=True)
class ModuleSpec:
    """A module by name and, for one that may not be on ``sys.path``, by file."""

    name: str
    path: str | None = None


def load_module(spec: ModuleSpec) -> ModuleType:
    """The module of `spec`: the loaded one, else by its name, else from its file.

    A name that leads to another file than the one of `spec` is not followed: test modules of
    equal names in different folders are common.

    Raises:
        ImportError: It cannot be found; what its own code raises passes through.
    """
    loaded = sys.modules.get(spec.name)
    if loaded is not None and _is_file(getattr(loaded, "__file__", None), spec.path):
        return loaded
    if spec.path is None or _is_file(_origin(spec.name), spec.path):
        return importlib.import_module(spec.name)
    return _from_file(spec.name, spec.path)


def _origin(name: str) -> str | None:
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return found.origin if found else None


def _is_file(found: str | None, wanted: str | None) -> bool:
    return wanted is None or (
        found is not None and os.path.realpath(found) == os.path.realpath(wanted)
    )


def _from_file(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file that can be imported", name=name, path=path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
