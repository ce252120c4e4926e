"""The pytest plugin: options, markers, the run's session, limits and the summary."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from exporters import BACKENDS, get_backend
from exporters.base import Selection
from testing import journal
from testing.journal import Journal, JournalError
from testing.mixin import export_case_of
from testing.registry import Registry, SkipFileError
from testing.results import CaseResult, Outcome
from testing.session import SESSION, SLOW_REASON, Session, is_slow_run
from testing.settings import RunSettings
from testing.shards import Shard, ShardError

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

__all__: list[str] = []

_GROUP = "export-harness"
_RESULTS_KEY = "export_harness_results"
_SHARED_KEY = "export_harness_shared"
# Of backends that are not written yet; what is marked for one is valid all the same.
_PREFIXES_TO_COME = ("torch", "onnx", "openvino", "executorch")
_TEMPORARY = pytest.StashKey["tempfile.TemporaryDirectory[str]"]()


# Options

_OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "--slow": ("run what is marked slow, as RUN_SLOW=1 does", {"action": "store_true"}),
    "--backend": (
        "run this backend only (repeatable); by default all that are installed",
        {"action": "append", "default": [], "metavar": "NAME"},
    ),
    "--neuron-runtime": (
        "what traces and runs for the neuron backend (default: auto)",
        {"choices": ["auto", *get_backend("neuron").runtimes], "default": "auto"},
    ),
    "--trace-patches": (
        "trace patches that may be applied (default: on)",
        {"default": "on", "metavar": "on|off|NAME,…"},
    ),
    "--lowerings": (
        "what may be done about an op that XLA lacks: folding, lowerings (default: on)",
        {"default": "on", "metavar": "on|off|NAME,…"},
    ),
    "--lowering-guard": (
        "raise where an op would kill the process (default: on)",
        {"choices": ["on", "off"], "default": "on"},
    ),
    "--isolate": (
        "run cases in children: where the backend can crash (auto), always or never",
        {"choices": ["auto", "always", "never"], "default": "auto"},
    ),
    "--run-skipped": (
        "run what skips.py skips: xfailed where still needed, a failing xpassed where stale",
        {"action": "store_true"},
    ),
    "--no-strict-skips": (
        "with --run-skipped: let a stale entry show as xpassed without failing the run",
        {"action": "store_true"},
    ),
    "--shard": ("run one share of the model classes, such as 1/10", {"metavar": "I/N"}),
    "--results": ("directory to which results.jsonl is written", {"metavar": "DIR"}),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a run."""
    group = parser.getgroup(_GROUP, "export of model classes")
    for name, (text, how) in _OPTIONS.items():
        group.addoption(name, help=text, **how)
    parser.addini("export_skips", "file of skips, from the root directory (default: skips.py)")


# Configuration


def pytest_configure(config: pytest.Config) -> None:
    """Register markers, check the options and open the session of the run."""
    config.addinivalue_line("markers", "slow: runs with --slow or RUN_SLOW=1 only")
    declared = [get_backend(name).test_prefix for name in BACKENDS]
    for prefix in dict.fromkeys([*declared, *_PREFIXES_TO_COME]):
        config.addinivalue_line("markers", f"{prefix}_export_test: export with this backend")
    settings = _settings(config)
    _check(settings)
    config.stash[SESSION] = _session(config, settings)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what the run's workers shared, and a journal that it was not asked to keep."""
    temporary = config.stash.get(_TEMPORARY, None)
    if temporary is not None:
        temporary.cleanup()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker which directories it shares with the others."""
    node.workerinput[_RESULTS_KEY] = _results_of(node.config)
    node.workerinput[_SHARED_KEY] = str(_shared_dir(node.config))


def _settings(config: pytest.Config) -> RunSettings:
    option = config.getoption
    return RunSettings(
        backends=tuple(dict.fromkeys(option("--backend"))),
        neuron_runtime=option("--neuron-runtime"),
        trace_patches=option("--trace-patches"),
        lowerings=option("--lowerings"),
        lowering_guard=option("--lowering-guard") == "on",
        isolate=option("--isolate"),
        run_skipped=option("--run-skipped"),
        strict_skips=not option("--no-strict-skips"),
        slow=option("--slow") or is_slow_run(os.environ),
        shard=option("--shard"),
        results=_results_dir(config),
    )


def _results_dir(config: pytest.Config) -> str:
    """The directory of the journal: the controller's, given, or the temporary one of the run."""
    if _is_worker(config):
        return str(config.workerinput[_RESULTS_KEY])  # type: ignore[attr-defined]
    given = config.getoption("--results")
    return str(Path(given).absolute() if given else _shared_dir(config))


def _shared_dir(config: pytest.Config) -> Path:
    """The temporary directory of the run, which its workers share."""
    if _is_worker(config):
        return Path(config.workerinput[_SHARED_KEY])  # type: ignore[attr-defined]
    if _TEMPORARY not in config.stash:
        config.stash[_TEMPORARY] = tempfile.TemporaryDirectory(prefix="export-results-")
    return Path(config.stash[_TEMPORARY].name)


def _check(settings: RunSettings) -> None:
    for name in settings.backends:
        if name not in BACKENDS:
            raise pytest.UsageError(_unknown("backend", name, list(BACKENDS)))
    if settings.shard is not None:
        try:
            Shard.parse(settings.shard)
        except ShardError as error:
            raise pytest.UsageError(f"--shard: {error}") from None
    backends = [get_backend(name) for name in BACKENDS]
    patches = [name for backend in backends for name in backend.patch_names()]
    _check_names("trace patch", settings.trace_patches, patches)
    lowerings = [name for backend in backends for name in backend.lowering_names()]
    _check_names("lowering", settings.lowerings, lowerings)


def _check_names(what: str, given: str, known: list[str]) -> None:
    for name in sorted(Selection.parse(given).names):
        if name not in known:
            raise pytest.UsageError(_unknown(what, name, known))


def _unknown(what: str, name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"no {what} is called {name!a}{hint} There are: {', '.join(known)}."


def _session(config: pytest.Config, settings: RunSettings) -> Session:
    try:
        registry = Registry.load(_skips_path(config))
        opened = Journal(settings.results or "")
    except (SkipFileError, JournalError) as error:
        raise pytest.UsageError(str(error)) from None
    before = journal.scan(settings.results or "").attempts
    attempts = Counter[str]()
    for result in before:
        attempts[result.case_id] = max(attempts[result.case_id], result.attempt)
    return Session(settings, registry, opened, attempts, shared=_shared_dir(config))


def _skips_path(config: pytest.Config) -> Path | None:
    given = config.getini("export_skips")
    return config.rootpath / given if given else None


def _results_of(config: pytest.Config) -> str | None:
    return config.stash[SESSION].settings.results


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


# Collection


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


# Running


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what is slow; an export decides for itself, so that its result is recorded."""
    session = item.config.stash[SESSION]
    session.recorded.discard(item.nodeid)
    is_slow = item.get_closest_marker("slow") is not None
    if is_slow and export_case_of(item) is None and not session.settings.slow:
        pytest.skip(SLOW_REASON)


@pytest.hookimpl(optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item) -> bool | None:
    """Keep pytest-timeout's timer off where the harness enforces the limit of the case.

    Its thread method ends the whole worker. True ends the search for a timer.
    """
    case = export_case_of(item)
    if case is None:
        return None
    isolates = item.config.stash[SESSION].settings.isolates(get_backend(case.backend))
    return True if isolates else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record an export that ended without a result: skipped by pytest, or by a fault of ours."""
    report = yield
    case = export_case_of(item)
    session = item.config.stash[SESSION]
    if case is not None and not report.passed and item.nodeid not in session.recorded:
        outcome = Outcome.SKIPPED if report.skipped else Outcome.FAILED
        said = {"reason" if report.skipped else "message": _said(report)}
        session.record(CaseResult.of(case, item.nodeid, outcome, stage=report.when, **said))
    if report.when == "call" and report.passed and item.nodeid in session.tolerated:
        # What pytest shows as xpassed.
        report.wasxfail = session.tolerated[item.nodeid]
    return report


def _said(report: pytest.TestReport) -> str:
    """The reason of a skip, which pytest has as the last of a triple, or the text of an error."""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[-1].removeprefix("Skipped: ")
    return str(report.longrepr)


# Summary


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Print what became of the exports of this run, read from the journal."""
    seen = {
        report.nodeid for reports in terminalreporter.stats.values() for report in reports
        if isinstance(report, pytest.TestReport)
    }  # fmt: skip
    contents = journal.scan(_results_of(config) or "")
    results = [result for result in contents.results if result.case_id in seen]
    if not (results or contents.damaged):
        return
    from testing.reports.summary import damage, summarize  # rich, which collection does without

    terminalreporter.section("exports")
    writer = config.get_terminal_writer()
    if results:
        terminalreporter.write(summarize(results, width=writer.fullwidth, color=writer.hasmarkup))
    if contents.damaged:
        terminalreporter.write_line(damage(contents.damaged), yellow=True)
    given = config.getoption("--results")
    if given:
        terminalreporter.write_line(f"results: {given}")
