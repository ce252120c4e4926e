"""Which test classes there are and what they name, by importing the test modules: no torch."""

from __future__ import annotations

import inspect
import sys
import unittest
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from testing import auto_classes, released
from testing.auto_classes import UnknownModelTypeError
from testing.coverage.errors import NoTestsError
from testing.isolation import ModuleSpec, load_module
from testing.mixin import ExportTesterMixin
from testing.model_classes import declared_classes

__all__ = ["DEFAULT_TESTS", "UNSORTED", "Declared", "UnknownName", "read"]

DEFAULT_TESTS = Path(__file__).resolve().parents[2] / "tests" / "models"
_T = TypeVar("_T")

UNSORTED = "unsorted"
"""Area of a model type that no list of areas has."""


@dataclass(frozen=True)
class UnknownName:
    """A model type or class that is named and that no supported transformers has.

    Attributes:
        place: The test class, or the list of areas, that names it.
        name: The name.
        nearest: The names most like it.
    """

    place: str
    name: str
    nearest: tuple[str, ...]

    def __str__(self) -> str:
        hint = f"; nearest: {', '.join(self.nearest)}" if self.nearest else ""
        return f"{self.place} names {self.name!a}, which no supported transformers has{hint}"


@dataclass(frozen=True)
class Declared:
    """What the test modules of a directory declare.

    Attributes:
        tests: For each model class, the test classes that export it: ``file::class``.
        areas: The area of each model type that a list of areas has.
        unknown: Names that nothing has.
        hosts: For each model class, those test classes themselves.
    """

    tests: Mapping[str, tuple[str, ...]]
    areas: Mapping[str, str]
    unknown: tuple[UnknownName, ...]
    hosts: Mapping[str, tuple[type, ...]] = field(default_factory=dict)

    def area_of(self, model_type: str) -> str:
        """The area of a model type."""
        return self.areas.get(model_type, UNSORTED)


def read(directory: Path = DEFAULT_TESTS) -> Declared:
    """Import the test modules of a directory, and its ``areas.py`` where it has one.

    Raises:
        NoTestsError: There is no such directory, or a module cannot be imported.
    """
    directory = directory.resolve()
    if not directory.is_dir():
        raise NoTestsError(f"there is no directory of tests {directory}; name one with --tests")
    areas = _areas(directory)
    tests: dict[str, list[str]] = {}
    hosts: dict[str, list[type]] = {}
    unknown = list(_unknown_types(areas))
    for place, cls in _test_classes(directory):
        try:
            models = declared_classes(cls)
        except UnknownModelTypeError as error:
            unknown += _unknown(place, error.model_type)
            continue
        for model in models:
            tests.setdefault(model.name, []).append(place)
            hosts.setdefault(model.name, []).append(cls)
            unknown += _unknown(place, model.name) if model.type is None else ()
    by_type = {kind: area for area, kinds in areas.items() for kind in kinds}
    return Declared(_frozen(tests), by_type, tuple(unknown), _frozen(hosts))


def _frozen(found: Mapping[str, list[_T]]) -> Mapping[str, tuple[_T, ...]]:
    return {name: tuple(values) for name, values in found.items()}


def _areas(directory: Path) -> Mapping[str, tuple[str, ...]]:
    if not (directory / "areas.py").exists():
        return {}
    found: Mapping[str, tuple[str, ...]] = _imported(directory / "areas.py").AREAS
    return found


def _test_classes(directory: Path) -> Iterator[tuple[str, type]]:
    for file in sorted(directory.glob("test_*.py")):
        for cls in vars(_imported(file)).values():
            if _is_test(cls):
                yield f"{_shown(file)}::{cls.__qualname__}", cls


def _imported(file: Path) -> ModuleType:
    """A module under the name that pytest's importlib mode gives it."""
    root = file.parents[2]
    if str(root) not in sys.path:
        sys.path.append(str(root))
    name = ".".join(file.relative_to(root).with_suffix("").parts)
    try:
        return load_module(ModuleSpec(name, str(file)))
    except Exception as error:
        message = f"{_shown(file)} cannot be imported: {type(error).__name__}: {error}"
        raise NoTestsError(message) from error


def _is_test(cls: Any) -> bool:
    return (
        inspect.isclass(cls)
        and issubclass(cls, ExportTesterMixin)
        and issubclass(cls, unittest.TestCase)
    )


def _unknown_types(areas: Mapping[str, tuple[str, ...]]) -> Iterator[UnknownName]:
    for area, kinds in areas.items():
        for kind in sorted(set(kinds) - released.model_types()):
            yield _unknown_name(f"area {area}", kind)


def _unknown(place: str, name: str) -> Iterator[UnknownName]:
    is_listed = name in released.classes() or name in released.model_types()
    # A model class need not be in the auto mappings.
    if not is_listed and auto_classes.module_of(name) is None:
        yield _unknown_name(place, name)


def _unknown_name(place: str, name: str) -> UnknownName:
    return UnknownName(place, name, tuple(released.nearest(name)))


def _shown(file: Path) -> str:
    """A path below the working directory as pytest's node ids have it."""
    here = Path.cwd()
    return (file.relative_to(here) if file.is_relative_to(here) else file).as_posix()
