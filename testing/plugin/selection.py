"""Which of the collected cases are run."""

from __future__ import annotations

import pytest

from testing.mixin import export_case_of
from testing.session import SESSION
from testing.shards import Shard

__all__: list[str] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the backends and the shards that were not asked for."""
    settings = config.stash[SESSION].settings
    shard = Shard.parse(settings.shard) if settings.shard else None
    dropped = {item for item in items if not _is_wanted(item, settings.backends, shard)}
    if dropped:
        config.hook.pytest_deselected(items=list(dropped))
        items[:] = [item for item in items if item not in dropped]


def _is_wanted(item: pytest.Item, backends: tuple[str, ...], shard: Shard | None) -> bool:
    """Whether an item is run; what is no export always is."""
    case = export_case_of(item)
    if case is None:
        return True
    return (not backends or case.backend in backends) and (
        shard is None or shard.holds(case.model_class)
    )
