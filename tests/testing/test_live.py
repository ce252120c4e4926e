"""A run while it goes on: on a terminal and in a log."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from testing.cases import ExportCase
from testing.plugin.live import Follower, Log
from testing.reports.live import Tally, lines, one_line
from testing.status import Status, StatusFile, statuses

ROOT = Path(__file__).parents[2]
CASE = ExportCase("BertModel", "bert", "neuron", runtime="xla", dynamic=True)
RUNNING = Status("t.py::ATest::test_neuron_export_dynamic_BertModel", CASE, "export", since=1000.0)


def test_a_worker_tells_case_stage_and_seconds(tmp_path: Path) -> None:
    file = StatusFile(tmp_path, "gw1")
    before = time.time()
    file.begin("t.py::test_it", CASE)
    file.enter("export")
    told = statuses(tmp_path)["gw1"]
    assert (told.case_id, told.case, told.stage) == ("t.py::test_it", CASE, "export")
    assert before <= told.since <= time.time()
    file.end()
    assert statuses(tmp_path) == {"gw1": Status()}


def test_ids_of_any_characters_are_told(tmp_path: Path) -> None:
    case_id = 'quotes " and\nnewlines \ud800 [ä]'
    StatusFile(tmp_path).begin(case_id, None)
    assert statuses(tmp_path)["main"].case_id == case_id


# A full disk, as /dev/full has it, whoever runs this: what is told is not worth a run.
def test_what_cannot_be_told_ends_no_run(tmp_path: Path) -> None:
    file = StatusFile(tmp_path)
    file.begin("t.py::test_it", CASE)
    (tmp_path / "status-main.new").symlink_to("/dev/full")
    file.enter("export")
    assert statuses(tmp_path)["main"].stage == "start"


def test_the_lines_tell_the_run_and_each_worker() -> None:
    tally = Tally(900.0, total=40, done=10, counts=Counter(passed=7, failed=1, skipped=2))
    told = list(lines(tally, {"gw0": RUNNING, "gw1": Status()}, now=1012.0))
    assert told == [
        # 112 s for ten, so 336 s for the other thirty.
        "10/40 in 1:52, 7 passed, 1 failed, 2 skipped, ETA 5:36",
        "gw0   BertModel [neuron/xla dynamic], export, 12 s",
        "gw1   -",
    ]


def test_a_log_has_it_on_one_line() -> None:
    tally = Tally(0.0, total=4)
    plain = Status("t.py::test_it[\x1b]", None, "start", since=0.0)
    assert one_line(tally, {"main": plain}, now=7200.0) == (
        r"0/4 in 2:00:00 | main: test_it[\x1b], start, 2:00:00"
    )


@pytest.mark.parametrize(("done", "left"), [(0, None), (4, None), (5, 95.0), (100, 0.0)])
def test_the_time_left_is_told_at_the_pace_so_far(done: int, left: float | None) -> None:
    assert Tally(0.0, total=100, done=done).left(now=float(done)) == left


def test_a_log_has_a_line_now_and_then_while_a_case_hangs(tmp_path: Path) -> None:
    StatusFile(tmp_path).begin("t.py::test_it", CASE)
    stream = io.StringIO()
    log = Log(Follower(tmp_path), stream, seconds=0.01)
    log.pytest_runtestloop()
    while stream.getvalue().count("\n") < 4:
        time.sleep(0.01)
    log.pytest_sessionfinish()
    written = stream.getvalue()
    assert re.search(r"main: BertModel \[neuron/xla dynamic\], start, \d+ s\n", written)
    time.sleep(0.05)
    assert stream.getvalue() == written


HOST = """
import exporters
from testing import execution
from tests.testing import stubs
import time, unittest
from testing.execution.stages import listener
from testing.mixin import ExportTesterMixin

def execute(request):
    listener.get()("export")
    time.sleep(0.6)
    return stubs.execute(request)

execution.execute = execute
exporters.BACKENDS.clear()
exporters.BACKENDS.update(stubs.BACKENDS)

class ATest(ExportTesterMixin, unittest.TestCase):
    all_model_classes = ("CvtModel", "BertModel")
"""
SCREEN_OF = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(directory: Path, *options: str) -> str:
    """What a run writes to a terminal, its control sequences left out."""
    (directory / "test_host.py").write_text(HOST)
    controller, terminal = pty.openpty()
    arguments = ["-p", "testing.plugin", "-p", "no:hypothesispytest", "--backend", "neuron"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "120"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "--slow", "--results", "out", *arguments, *options],
        cwd=directory,
        env=environment,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    written = b""
    while True:
        try:
            read = os.read(controller, 65536)
        except OSError:  # how a terminal tells that nobody writes to it any more
            break
        written += read
        if not read:
            break
    assert process.wait() == 1
    os.close(controller)
    return SCREEN_OF.sub("", written.decode())


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "workers"])
def test_a_terminal_shows_what_each_worker_does(tmp_path: Path, workers: list[str]) -> None:
    shown = on_a_terminal(tmp_path, *workers)
    names = ["gw0", "gw1"] if workers else ["main"]
    for name in names:
        assert re.search(rf"{name} +\w+ \[neuron \w+\], export, \d+ s", shown), name
    assert "failed: test_host.py::ATest::test_neuron_export_static_BertModel" in shown
    # The summary follows, and no dots stand between the lines.
    assert "failures (2), causes (1)" in shown
    assert "test_host.py ." not in shown
    assert "[100%]" not in shown
