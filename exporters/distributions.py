"""Which version of a distribution is installed, read from metadata and without importing it."""

from __future__ import annotations

from importlib import metadata

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

__all__ = ["version_of"]

# PyPI's torch-neuronx is an empty 1.0 that holds the name; AWS's own starts at 1.11.
_PLACEHOLDERS = {"torch-neuronx": (1, 0)}


def version_of(distribution: str) -> str | None:
    """Version of an installed distribution; None when it is absent or only holds a name."""
    try:
        found = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
    return None if _is_placeholder(distribution, found) else found


def _is_placeholder(distribution: str, version: str) -> bool:
    empty = _PLACEHOLDERS.get(canonicalize_name(distribution))
    if empty is None:
        return False
    try:
        return Version(version).release[:2] == empty
    except InvalidVersion:
        return False
