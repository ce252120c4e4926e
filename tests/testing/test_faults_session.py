"""Sessions of 200 cases, of which 40 are faulty: none is lost, and each is told as it ended."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing import journal
from testing.journal import JournalContents
from testing.results import CaseResult, Outcome
from tests.testing.faults_backend.plan import CASES, DIRECTORY, run_session, runs

WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "two-workers"])
MOST_SECONDS = 1800
pytestmark = [pytest.mark.slow, pytest.mark.timeout(3 * MOST_SECONDS)]


def left_over(directory: Path) -> list[int]:
    """Processes of the sessions of a directory; every one has inherited its variable."""
    mark = f"{DIRECTORY}={directory}".encode()
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                found.append(int(name))
        except OSError:
            continue
    return found


def is_rid_of_all(directory: Path, seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while left_over(directory):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def by_class(contents: JournalContents) -> dict[str, CaseResult]:
    return {result.model_class: result for result in contents.results}


def differences(results: dict[str, CaseResult]) -> list[str]:
    """What is not as it has to be, a line each."""
    found = []
    for name, expected in CASES.items():
        got = results[name]
        wanted = (expected.outcome, expected.signal, expected.stage, expected.op)
        if (got.outcome, got.signal, got.stage, got.op) != wanted:
            found.append(f"{name}: {got.outcome.value} {got.signal} {got.stage} {got.op}")
        if expected.words not in (got.message or ""):
            found.append(f"{name}: {got.message}")
    return found


@WORKERS
def test_every_fault_has_its_result_and_nothing_is_left(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    process = run_session(tmp_path, "--results", str(tmp_path / "results"), *workers)
    status = process.wait(MOST_SECONDS)
    contents = journal.scan(tmp_path / "results")
    results = by_class(contents)

    assert status == pytest.ExitCode.TESTS_FAILED
    assert len(contents.results) == len(results) == 200
    assert contents.damaged == ()
    assert differences(results) == []
    for name, expected in CASES.items():
        # B29: the tries that died have rows of their own, and the last one tells of them.
        tries = [row for row in contents.attempts if row.model_class == name]
        is_retried = expected.first is not None
        assert [row.attempt for row in tries] == [1, 2][: 1 + is_retried], name
        assert [row.retried for row in tries] == [True, False][not is_retried :], name
        deaths = results[name].deaths
        assert [death.startswith(expected.first or "") for death in deaths] == [True] * is_retried
    assert is_rid_of_all(tmp_path, seconds=5)
    printed = (tmp_path / "output").read_text()
    assert "flaky (5)" in printed


@WORKERS
def test_a_run_that_was_killed_goes_on_where_it_was(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    killed_after = random.randrange(10, 190)
    process = run_session(tmp_path, "--results", str(tmp_path / "results"), *workers)
    while len(set(runs(tmp_path))) < killed_after:
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert is_rid_of_all(tmp_path), f"killed after {killed_after}"

    latest = by_class(journal.scan(tmp_path / "results"))
    finished = {name for name, row in latest.items() if not row.retried}
    begun = len(runs(tmp_path))
    status = run_session(tmp_path, "--resume", str(tmp_path / "results"), *workers).wait(
        MOST_SECONDS
    )
    contents = journal.scan(tmp_path / "results")

    assert status == pytest.ExitCode.TESTS_FAILED
    assert len(contents.results) == 200
    assert differences(by_class(contents)) == []
    assert finished.isdisjoint(runs(tmp_path)[begun:]), f"killed after {killed_after}"
    assert is_rid_of_all(tmp_path, seconds=5)


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """What a shell has put into the background ignores SIGINT, and its children do too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
@WORKERS
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_the_run_in_order(
    tmp_path: Path, workers: tuple[str, ...], times: int
) -> None:
    results = tmp_path / "results"
    process = run_session(tmp_path, "--results", str(results), "-k", "Sound", *workers)
    while len(runs(tmp_path)) < 5:
        assert process.poll() is None
        time.sleep(0.01)
    for _ in range(times):
        # As a terminal does: to all of the foreground's processes.
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.2)
    status = process.wait(120)
    printed = (tmp_path / "output").read_text()
    contents = journal.scan(results)

    assert status == pytest.ExitCode.INTERRUPTED, printed
    assert f"go on with it by --resume {results}" in printed
    assert "Traceback" not in printed
    assert "INTERNALERROR" not in printed
    assert contents.damaged == ()
    assert contents.results
    assert {row.outcome for row in contents.results} == {Outcome.PASSED}
    assert is_rid_of_all(tmp_path, seconds=15)
