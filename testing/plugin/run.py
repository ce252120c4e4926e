"""The session of a run: opened by the controller and by each worker, on directories they share."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from exporters import BACKENDS, get_backend
from exporters.base import DevicesError
from testing import journal
from testing.devices import check_workers, most_workers
from testing.durations import durations_of
from testing.journal import Journal, JournalError
from testing.parallel import Worker, worker
from testing.plugin.collecting import uncollected
from testing.plugin.options import results_of, settings_of
from testing.registry import Registry, SkipFileError
from testing.resume import Finished
from testing.session import SESSION, Session
from testing.settings import RunSettings
from testing.shards import Shard

__all__ = ["is_worker", "workers_of"]

_RESULTS_KEY = "export_harness_results"
_SHARED_KEY = "export_harness_shared"
_PLACE_KEY = "export_harness_place"
_PLACES = pytest.StashKey[dict[str, int]]()
_TEMPORARY = pytest.StashKey["tempfile.TemporaryDirectory[str]"]()


def pytest_configure(config: pytest.Config) -> None:
    """Register markers, check the options and open the session of the run."""
    config.addinivalue_line("markers", "slow: runs with --slow or RUN_SLOW=1 only")
    config.addinivalue_line("markers", "generate: exports the steps of generation")
    for prefix in dict.fromkeys(get_backend(name).test_prefix for name in BACKENDS):
        config.addinivalue_line("markers", f"{prefix}_export_test: export with this backend")
    settings = settings_of(config, _results_dir(config))
    try:
        _take_place(config, settings)
    except DevicesError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[SESSION] = _session(config, settings)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what the run's workers shared, and a journal that it was not asked to keep."""
    temporary = config.stash.get(_TEMPORARY, None)
    if temporary is not None:
        temporary.cleanup()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker which directories it shares with the others, and its place."""
    node.workerinput[_RESULTS_KEY] = node.config.stash[SESSION].settings.results
    node.workerinput[_SHARED_KEY] = str(_shared_dir(node.config))
    places = node.config.stash[_PLACES]
    # One that takes a dead worker's part has a new name, and the place that came free.
    place = next(index for index in itertools.count() if index not in places.values())
    places[node.gateway.id] = place
    node.workerinput[_PLACE_KEY] = [place, workers_of(node.config)]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Have the place of a worker that ended be taken by the next."""
    node.config.stash[_PLACES].pop(node.gateway.id, None)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """With ``-n auto`` one worker for each core that has a device, where one is needed."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    try:
        return most_workers(settings_of(config, ""))
    except DevicesError as error:
        raise pytest.UsageError(str(error)) from None


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is one of xdist's workers."""
    return hasattr(config, "workerinput")


def workers_of(config: pytest.Config) -> int:
    """How many workers xdist was asked for; 0 where it distributes nothing."""
    if config.getoption("dist", "no") == "no":
        return 0
    from xdist.workermanage import parse_tx_spec_config

    return len(parse_tx_spec_config(config))


def _take_place(config: pytest.Config, settings: RunSettings) -> None:
    """Be one of the workers; as their controller see that there are devices for all of them."""
    if is_worker(config):
        worker.set(Worker(*config.workerinput[_PLACE_KEY]))  # type: ignore[attr-defined]
    else:
        config.stash[_PLACES] = {}
        check_workers(workers_of(config), settings)


def _results_dir(config: pytest.Config) -> str:
    """The directory of the journal: the controller's, given, or the temporary one of the run."""
    if is_worker(config):
        return str(config.workerinput[_RESULTS_KEY])  # type: ignore[attr-defined]
    return str(results_of(config) or _shared_dir(config))


def _shared_dir(config: pytest.Config) -> Path:
    """The temporary directory of the run, which its workers share."""
    if is_worker(config):
        return Path(config.workerinput[_SHARED_KEY])  # type: ignore[attr-defined]
    if _TEMPORARY not in config.stash:
        config.stash[_TEMPORARY] = tempfile.TemporaryDirectory(prefix="export-results-")
    return Path(config.stash[_TEMPORARY].name)


def _session(config: pytest.Config, settings: RunSettings) -> Session:
    try:
        registry = Registry.load(_skips_path(config))
        opened = Journal(settings.results or "")
    except (SkipFileError, JournalError) as error:
        raise pytest.UsageError(str(error)) from None
    shared = _shared_dir(config)
    before = journal.scan(settings.results or "")
    attempts = Counter[str]()
    for result in before.attempts:
        attempts[result.case_id] = max(attempts[result.case_id], result.attempt)
    return Session(
        settings,
        registry,
        opened,
        attempts,
        shared=shared,
        shard=_shard(config, settings, shared),
        uncollected=frozenset(uncollected(before.results)),
        finished=_finished(config, settings, shared) if settings.resume else None,
    )


def _finished(config: pytest.Config, settings: RunSettings, shared: Path) -> Finished:
    """What had a result when the controller began, however late a worker asks."""
    if not is_worker(config):
        Finished.of(settings.results or "").write(shared)
    return Finished.read(shared)


def _shard(config: pytest.Config, settings: RunSettings, shared: Path) -> Shard | None:
    """The share that is run; the directory of durations may be the one that grows meanwhile."""
    if settings.shard is None:
        return None
    shard, file = Shard.parse(settings.shard), shared / "durations.json"
    if settings.durations_from is None:
        return shard
    if not is_worker(config):
        file.write_text(json.dumps(durations_of(settings.durations_from)), encoding="ascii")
    return shard.balanced(json.loads(file.read_text(encoding="ascii")))


def _skips_path(config: pytest.Config) -> Path | None:
    given = config.getini("export_skips")
    return config.rootpath / given if given else None
