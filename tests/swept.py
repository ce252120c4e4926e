"""The model classes that the test classes under ``tests/models`` name by their model types."""

from __future__ import annotations

import zlib

from testing import auto_classes

__all__ = ["sampled_classes", "swept_classes"]

_SHARE = 10


def swept_classes() -> list[str]:
    """Every model class of the installed transformers, in the order of their names."""
    return sorted(auto_classes.known_classes())


def sampled_classes() -> list[str]:
    """A tenth of them, the same in every run."""
    return [name for name in swept_classes() if zlib.crc32(name.encode()) % _SHARE == 0]
