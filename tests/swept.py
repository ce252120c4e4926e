"""The model classes that the test classes under ``tests/models`` name by their model types."""

from __future__ import annotations

from testing import auto_classes
from testing.shards import Shard

__all__ = ["sampled_classes", "swept_classes"]

_TENTH = Shard(1, 10)


def swept_classes() -> list[str]:
    """Every model class of the installed transformers, in the order of their names."""
    return sorted(auto_classes.known_classes())


def sampled_classes() -> list[str]:
    """A tenth of them, the share that CI runs."""
    return list(filter(_TENTH.holds, swept_classes()))
