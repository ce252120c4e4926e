"""Which version of a distribution is installed, read from metadata and without importing it."""

from __future__ import annotations

from importlib import metadata

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

__all__ = ["version_of"]

# PyPI's torch-neuronx 1.0 and neuronx-cc 1.0.post1 are empty and hold the names; AWS's own start
# at 1.11 and 2.1.
_PLACEHOLDERS = {"neuronx-cc": (1, 0), "torch-neuronx": (1, 0)}


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
