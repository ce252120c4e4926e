"""The session of a run: opened by the controller and by each worker, on directories they share."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from exporters import BACKENDS, get_backend
from testing import journal
from testing.journal import Journal, JournalError
from testing.plugin.options import results_of, settings_of
from testing.registry import Registry, SkipFileError
from testing.resume import Finished
from testing.session import SESSION, Session
from testing.settings import RunSettings

__all__ = ["is_worker"]

_RESULTS_KEY = "export_harness_results"
_SHARED_KEY = "export_harness_shared"
# Of backends that are not written yet; what is marked for one is valid all the same.
_PREFIXES_TO_COME = ("torch", "onnx", "openvino", "executorch")
_TEMPORARY = pytest.StashKey["tempfile.TemporaryDirectory[str]"]()


def pytest_configure(config: pytest.Config) -> None:
    """Register markers, check the options and open the session of the run."""
    config.addinivalue_line("markers", "slow: runs with --slow or RUN_SLOW=1 only")
    declared = [get_backend(name).test_prefix for name in BACKENDS]
    for prefix in dict.fromkeys([*declared, *_PREFIXES_TO_COME]):
        config.addinivalue_line("markers", f"{prefix}_export_test: export with this backend")
    config.stash[SESSION] = _session(config, settings_of(config, _results_dir(config)))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what the run's workers shared, and a journal that it was not asked to keep."""
    temporary = config.stash.get(_TEMPORARY, None)
    if temporary is not None:
        temporary.cleanup()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker which directories it shares with the others."""
    node.workerinput[_RESULTS_KEY] = node.config.stash[SESSION].settings.results
    node.workerinput[_SHARED_KEY] = str(_shared_dir(node.config))


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is one of xdist's workers."""
    return hasattr(config, "workerinput")


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
    attempts = Counter[str]()
    for result in journal.scan(settings.results or "").attempts:
        attempts[result.case_id] = max(attempts[result.case_id], result.attempt)
    finished = _finished(config, settings, shared) if settings.resume else None
    return Session(settings, registry, opened, attempts, shared=shared, finished=finished)


def _finished(config: pytest.Config, settings: RunSettings, shared: Path) -> Finished:
    """What had a result when the controller began, however late a worker asks."""
    if not is_worker(config):
        Finished.of(settings.results or "").write(shared)
    return Finished.read(shared)


def _skips_path(config: pytest.Config) -> Path | None:
    given = config.getini("export_skips")
    return config.rootpath / given if given else None
