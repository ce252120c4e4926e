"""Which model classes the test modules name, read from their source: none is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from testing import auto_classes, released
from testing.auto_classes import TransformersMissingError

__all__ = ["NamesUnderTest"]


@dataclass(frozen=True)
class NamesUnderTest:
    """What the modules of a directory name.

    Attributes:
        classes: Model classes, in ``all_model_classes``.
        model_types: Model types, as ``model_type`` or in the areas from which tests are made.
        has_every_type: A module makes tests of the types that no area has.
    """

    classes: frozenset[str]
    model_types: frozenset[str]
    has_every_type: bool

    @classmethod
    def read(cls, directory: Path) -> NamesUnderTest:
        """Read ``test_*.py``, and ``areas.py`` where they make tests of its model types."""
        modules = [ast.parse(f.read_bytes()) for f in sorted(directory.glob("test_*.py"))]
        calls = frozenset(name for module in modules for name in _called(module))
        areas = _areas(directory / "areas.py") if "export_tests" in calls else ()
        return cls(
            classes=frozenset(_assigned(modules, "all_model_classes")),
            model_types=frozenset([*_assigned(modules, "model_type"), *areas]),
            has_every_type="unsorted_types" in calls,
        )

    def has(self, model_class: str) -> bool:
        """Whether a test exports a class."""
        if model_class in self.classes:
            return True
        types = frozenset(_types_of(model_class))
        return bool(types) and (self.has_every_type or bool(types & self.model_types))


def _types_of(model_class: str) -> tuple[str, ...]:
    """The model types that a supported version, else the installed one, maps to a class."""
    listed = _listed_types().get(model_class)
    if listed is not None:
        return tuple(listed)
    try:
        return auto_classes.model_types_of(model_class)
    except TransformersMissingError:
        return ()


@cache
def _listed_types() -> Mapping[str, list[str]]:
    types: dict[str, list[str]] = {}
    for names in map(released.classes_by_type, released.versions()):
        for kind, classes in names.items():
            for name in classes:
                types.setdefault(name, []).append(kind)
    return types


def _called(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def _areas(file: Path) -> Iterator[str]:
    if file.exists():
        for value in _values([ast.parse(file.read_bytes())], "AREAS"):
            areas: Mapping[str, Iterable[str]] = ast.literal_eval(value)
            yield from (kind for kinds in areas.values() for kind in kinds)


def _assigned(modules: Iterable[ast.Module], name: str) -> Iterator[str]:
    """Strings and names of classes in what is assigned to `name`, in modules and classes."""
    for value in _values(modules, name):
        for node in ast.walk(value):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.Name):
                yield node.id


def _values(modules: Iterable[ast.Module], name: str) -> Iterator[ast.expr]:
    for module in modules:
        for node in ast.walk(module):
            match node:
                case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                    yield value
                case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value):
                    if found == name:
                        yield value
