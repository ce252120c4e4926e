"""Versions of what a result depends on, read from metadata and without importing anything."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import metadata
from platform import python_version

__all__ = ["versions_of"]


def versions_of(distributions: Iterable[str]) -> dict[str, str]:
    """Version of Python and of each distribution that is installed."""
    found = {"python": python_version()}
    found.update((name, version) for name in distributions if (version := _version(name)))
    return found


@cache
def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
