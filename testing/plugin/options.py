"""The options of a run, and what is no valid choice."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

import pytest

from exporters import BACKENDS, BROKEN, get_backend
from exporters.base import Selection
from testing.session import is_slow_run
from testing.settings import RunSettings
from testing.shards import Shard, ShardError
from testing.sizes import SizeError, parse_size

__all__ = ["results_of", "settings_of"]

_GROUP = "export-harness"

_OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "--slow": ("run what is marked slow, as RUN_SLOW=1 does", {"action": "store_true"}),
    "--backend": (
        "run this backend only (repeatable); by default all that are installed",
        {"action": "append", "default": [], "metavar": "NAME"},
    ),
    "--model-class": (
        "run this model class only, by its whole name (repeatable)",
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
    "--case-memory": (
        "memory that a case in a child may hold, such as 8G; it dies alone (default: no limit)",
        {"metavar": "SIZE"},
    ),
    "--crash-retries": (
        "how often a case that died is tried again, to tell flaky from consistent (default: 1)",
        {"type": int, "default": RunSettings.crash_retries, "metavar": "N"},
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
    "--durations-from": (
        "divide the classes into shards by how long they took in this results directory",
        {"metavar": "DIR"},
    ),
    "--results": ("directory to which results.jsonl is written", {"metavar": "DIR"}),
    "--resume": (
        "go on with the run of this results directory: run what has no result there for the same "
        "versions, options and entry of skips.py",
        {"metavar": "DIR"},
    ),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a run."""
    group = parser.getgroup(_GROUP, "export of model classes")
    for name, (text, how) in _OPTIONS.items():
        group.addoption(name, help=text, **how)
    parser.addini("export_skips", "file of skips, from the root directory (default: skips.py)")


def results_of(config: pytest.Config) -> Path | None:
    """The directory of the journal as it was given; None where it was not.

    Raises:
        pytest.UsageError: Two different ones were given, or there is none to resume.
    """
    resumed, given = config.getoption("--resume"), config.getoption("--results")
    if resumed is None:
        return Path(given).absolute() if given else None
    directory = Path(resumed).absolute()
    if given and Path(given).absolute() != directory:
        raise pytest.UsageError("--resume writes to the directory that it resumes: no --results")
    if not directory.is_dir():
        raise pytest.UsageError(f"--resume: there is no results directory {resumed}")
    return directory


def settings_of(config: pytest.Config, results: str) -> RunSettings:
    """The options of a run as they were given.

    Args:
        config: pytest's configuration.
        results: Directory of the journal.

    Raises:
        pytest.UsageError: One is no valid choice.
    """
    option = config.getoption
    settings = RunSettings(
        backends=tuple(dict.fromkeys(option("--backend"))),
        model_classes=tuple(dict.fromkeys(option("--model-class"))),
        neuron_runtime=option("--neuron-runtime"),
        trace_patches=option("--trace-patches"),
        lowerings=option("--lowerings"),
        lowering_guard=option("--lowering-guard") == "on",
        isolate=option("--isolate"),
        case_memory=_case_memory(option("--case-memory")),
        crash_retries=option("--crash-retries"),
        run_skipped=option("--run-skipped"),
        strict_skips=not option("--no-strict-skips"),
        slow=option("--slow") or is_slow_run(os.environ),
        shard=option("--shard"),
        durations_from=option("--durations-from"),
        results=results,
        resume=option("--resume") is not None,
    )
    _check(settings)
    return settings


def _case_memory(given: str | None) -> int | None:
    try:
        return parse_size(given) if given else None
    except SizeError as error:
        raise pytest.UsageError(f"--case-memory: {error}") from None


def _check(settings: RunSettings) -> None:
    if settings.crash_retries < 0:
        raise pytest.UsageError("--crash-retries: give 0 or more")
    for name in settings.backends:
        if name in BROKEN:
            raise pytest.UsageError(str(BROKEN[name]))
        if name not in BACKENDS:
            raise pytest.UsageError(_unknown("backend", name, list(BACKENDS)))
    if settings.shard is not None:
        try:
            Shard.parse(settings.shard)
        except ShardError as error:
            raise pytest.UsageError(f"--shard: {error}") from None
    _check_durations(settings)
    backends = [get_backend(name) for name in BACKENDS]
    patches = [name for backend in backends for name in backend.patch_names()]
    _check_names("trace patch", settings.trace_patches, patches)
    lowerings = [name for backend in backends for name in backend.lowering_names()]
    _check_names("lowering", settings.lowerings, lowerings)


def _check_names(what: str, given: str, known: list[str]) -> None:
    for name in sorted(Selection.parse(given).names):
        if name not in known:
            raise pytest.UsageError(_unknown(what, name, known))


def _check_durations(settings: RunSettings) -> None:
    if settings.durations_from is None:
        return
    if settings.shard is None:
        raise pytest.UsageError("--durations-from tells how --shard divides: give both")
    if not Path(settings.durations_from).is_dir():
        told = f"--durations-from: there is no results directory {settings.durations_from}"
        raise pytest.UsageError(told)


def _unknown(what: str, name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"no {what} is called {name!a}{hint} There are: {', '.join(known)}."
