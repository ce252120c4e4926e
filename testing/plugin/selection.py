"""Which of the collected cases are run."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from testing.cases import ExportCase
from testing.mixin import export_case_of
from testing.plugin.run import is_worker
from testing.session import SESSION, Session

__all__ = ["KEPT"]

KEPT = pytest.StashKey[int]()
"""How many cases are not run again, since the results directory has them."""

_KEPT_KEY = "export_harness_kept"


@pytest.hookimpl(trylast=True)  # what -k and -m leave is what has to be looked up
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the backends, classes and shards not asked for, and what has a result."""
    session = config.stash[SESSION]
    cases = {item: case for item in items if (case := export_case_of(item)) is not None}
    for text in _unmet(session.settings.model_classes, cases.values()):
        # An error would be one of each worker, and xdist would hide it behind its own.
        config.issue_config_time_warning(pytest.PytestWarning(text), stacklevel=1)
    wanted = {item: case for item, case in cases.items() if _is_wanted(case, session)}
    kept = [item for item, case in wanted.items() if session.has_result(case, item.nodeid)]
    config.stash[KEPT] = len(kept)
    dropped = (cases.keys() - wanted.keys()) | set(kept)
    if dropped:
        config.hook.pytest_deselected(items=list(dropped))
        items[:] = [item for item in items if item not in dropped]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the controller, which collects nothing itself, how many are not run again."""
    config = session.config
    if is_worker(config):
        config.workeroutput[_KEPT_KEY] = config.stash.get(KEPT, 0)  # type: ignore[attr-defined]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear it; a worker that died says nothing."""
    told = getattr(node, "workeroutput", None) or {}
    if _KEPT_KEY in told:
        node.config.stash[KEPT] = told[_KEPT_KEY]


def _unmet(asked: Iterable[str], cases: Iterable[ExportCase]) -> Iterator[str]:
    known = {case.model_class for case in cases}
    for name in asked:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            yield f"--model-class: no collected test exports {name!a}{hint}"


def _is_wanted(case: ExportCase, session: Session) -> bool:
    settings, shard = session.settings, session.shard
    return (
        (not settings.backends or case.backend in settings.backends)
        and (not settings.model_classes or case.model_class in settings.model_classes)
        and (shard is None or shard.holds(case.model_class))
    )
