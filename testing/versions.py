"""Versions of what a result depends on: of distributions, and of the code of a checkout."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from platform import python_version

from exporters.distributions import version_of

__all__ = ["digest_of_sources", "versions_of"]


def versions_of(distributions: Iterable[str]) -> dict[str, str]:
    """Version of Python and of each distribution that is installed; none is imported."""
    found = {"python": python_version()}
    found.update((name, version) for name in distributions if (version := _version(name)))
    return found


def digest_of_sources(directories: Iterable[Path]) -> str:
    """What changes where a Python file of one of the directories does."""
    digest = hashlib.sha256()
    for directory, file in sorted((d, f) for d in directories for f in d.rglob("*.py")):
        name = str(file.relative_to(directory.parent))
        digest.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


_version = cache(version_of)
