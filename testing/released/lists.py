"""The lists and what is asked of them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from packaging.version import Version

from exporters.distributions import version_of
from testing import auto_classes
from testing.auto_classes import TransformersMissingError

__all__ = [
    "DIRECTORY",
    "UnsupportedVersionError",
    "classes",
    "classes_by_type",
    "installed",
    "model_types",
    "nearest",
    "text_of",
    "versions",
    "versions_with",
    "write",
]

DIRECTORY: Final = Path(__file__).parent
"""Holds ``<version>.json``: a model type a line, with its classes."""


class UnsupportedVersionError(LookupError):
    """There is no list for a version of transformers."""

    def __init__(self, version: str) -> None:
        super().__init__(
            f"there is no list of transformers {version}, only of {', '.join(versions())}; "
            "where it is installed, make one with: export-harness names --write"
        )


def versions() -> tuple[str, ...]:
    """The versions that have a list, oldest first."""
    return tuple(sorted((file.stem for file in DIRECTORY.glob("*.json")), key=Version))


@cache
def classes_by_type(version: str) -> Mapping[str, tuple[str, ...]]:
    """Classes of every model type in one version.

    Raises:
        UnsupportedVersionError: It has no list.
    """
    try:
        text = (DIRECTORY / f"{version}.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UnsupportedVersionError(version) from None
    return {kind: tuple(names) for kind, names in json.loads(text).items()}


def classes() -> frozenset[str]:
    """Every model class that a supported version or the installed one has."""
    return frozenset(name for names in _known().values() for name in names)


def model_types() -> frozenset[str]:
    """Every model type that a supported version or the installed one has."""
    return frozenset(_known())


def versions_with(name: str) -> tuple[str, ...]:
    """The supported versions that have a model type or class of this name, oldest first."""
    return tuple(version for version in versions() if _has(classes_by_type(version), name))


def nearest(name: str, count: int = 3) -> list[str]:
    """The known model types and classes most like `name`, best first."""
    return difflib.get_close_matches(name, sorted(classes() | model_types()), n=count)


def installed() -> dict[str, tuple[str, ...]]:
    """Classes of every model type of the installed transformers, in the order of the types.

    Raises:
        TransformersMissingError: It is not installed.
    """
    return {kind: auto_classes.classes_of(kind) for kind in sorted(auto_classes.model_types())}


def text_of(names: Mapping[str, tuple[str, ...]]) -> str:
    """A list as its file has it."""
    lines = [f"{json.dumps(kind)}: {json.dumps(found)}" for kind, found in names.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(directory: Path = DIRECTORY) -> Path:
    """Write the list of the installed transformers and say where.

    Raises:
        TransformersMissingError: It is not installed.
    """
    version = version_of("transformers")
    if version is None:
        raise TransformersMissingError
    path = directory / f"{version}.json"
    path.write_text(text_of(installed()), encoding="utf-8")
    classes_by_type.cache_clear()
    _known.cache_clear()
    return path


@cache
def _known() -> dict[str, set[str]]:
    known: dict[str, set[str]] = {}
    for names in (*map(classes_by_type, versions()), _installed_if_any()):
        for kind, found in names.items():
            known.setdefault(kind, set()).update(found)
    return known


def _installed_if_any() -> Mapping[str, tuple[str, ...]]:
    try:
        return installed()
    except TransformersMissingError:
        return {}


def _has(names: Mapping[str, tuple[str, ...]], name: str) -> bool:
    return name in names or any(name in found for found in names.values())
