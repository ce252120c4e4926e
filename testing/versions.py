"""Versions of what a result depends on, read from metadata and without importing anything."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from platform import python_version

from exporters.distributions import version_of

__all__ = ["versions_of"]


def versions_of(distributions: Iterable[str]) -> dict[str, str]:
    """Version of Python and of each distribution that is installed."""
    found = {"python": python_version()}
    found.update((name, version) for name in distributions if (version := _version(name)))
    return found


_version = cache(version_of)
