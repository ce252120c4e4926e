"""Cases in children and in this process: every end becomes the right result."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import exporters
from testing.cases import ExportCase
from testing.execution import runner
from testing.execution.endings import result_of, with_op
from testing.isolation import (
    ChildError,
    ChildReport,
    Ending,
    Frame,
    ModuleSpec,
    load_module,
)
from testing.registry.entries import Tolerance
from testing.results import CaseResult, Outcome
from testing.settings import CaseRequest, RunSettings

HOSTS = ModuleSpec("execution_hosts", str(Path(__file__).with_name("execution_hosts.py")))
MODEL_FILE = Path(__file__).with_name("modeling_faulty.py")


def request(
    model_class: str = "Passes", test_class: str = "Host", isolate: str = "auto", **values: Any
) -> CaseRequest:
    return CaseRequest(
        case=ExportCase(model_class, None, "faulty"),
        case_id=f"id of {model_class}",
        module=HOSTS.name,
        path=str(HOSTS.path),
        test_class=test_class,
        test_method="test_it",
        tolerance=Tolerance(1e-4, 1e-4),
        settings=RunSettings(isolate=isolate),
        **{"timeout": 60.0, "guard": False, **values},
    )


def line_of(text: str) -> str:
    lines = MODEL_FILE.read_text().splitlines()
    return f"modeling_faulty.py:{next(i for i, line in enumerate(lines, 1) if text in line)}"


@pytest.fixture(autouse=True, scope="module")
def hosts() -> Iterator[Any]:
    yield load_module(HOSTS)
    runner.close_servers()
    # Its import has registered a backend, which no other test may meet.
    exporters.BACKENDS.pop("faulty")


class _Declared:
    """As much of a backend as the judgement of an end reads."""

    distributions = ("pytest", "no-such-distribution")


def judged(ending: Ending, case: CaseRequest | None = None, **values: Any) -> CaseResult:
    return result_of(ChildReport(ending, **values), case or request(), _Declared())


# --- whole cases in a child ---


def test_passing_case_passes_in_a_child() -> None:
    result = runner.execute(request())

    assert (result.outcome, result.message) == (Outcome.PASSED, None)
    assert set(result.versions) == {"python", "torch"}


def test_abort_has_signal_words_line_and_the_op_of_a_guarded_rerun() -> None:
    result = runner.execute(request("Aborts"))

    assert result.outcome is Outcome.CRASHED
    assert (result.signal, result.exit_code, result.stage) == ("SIGABRT", 134, "export")
    assert result.message is not None
    assert "Check failed: data != nullptr PjRt is null" in result.message
    assert result.source == line_of("os.abort()")
    assert result.peak_rss_mb is not None
    assert [frame.endswith(" in forward") for frame in result.stack[:1]] == [True]
    assert f"{MODEL_FILE}:" in result.stack[0]
    assert (result.op, result.operand) == ("aten::broken", "parameter linear.weight")
    assert result.op_source == "guard-rerun"


def test_segfault_has_no_words_but_its_line_and_op() -> None:
    result = runner.execute(request("Segfaults"))

    assert (result.outcome, result.signal, result.exit_code) == (Outcome.CRASHED, "SIGSEGV", 139)
    assert result.source == line_of("ctypes.string_at(0)")
    assert result.op == "aten::broken"


def test_guarded_case_is_not_run_twice() -> None:
    result = runner.execute(request("Aborts", guard=True))

    assert (result.outcome, result.op_source) == (Outcome.FAILED, "guard")


@pytest.mark.parametrize("model_class", ["Passes", "Aborts"])
def test_what_a_compiler_writes_is_removed_whether_the_child_lives_or_not(
    model_class: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    runner.execute(request(model_class))

    assert list(tmp_path.iterdir()) == []


def test_crash_that_the_guard_does_not_see_says_so() -> None:
    result = runner.execute(request("Exits"))

    assert (result.outcome, result.exit_code, result.op) == (Outcome.CRASHED, 0, None)
    assert result.message is not None
    assert "guarded rerun names no op" in result.message


def test_hang_ends_at_the_limit_with_stage_and_line() -> None:
    result = runner.execute(request("Hangs", timeout=2))

    assert (result.outcome, result.stage) == (Outcome.TIMEOUT, "export")
    assert result.source == line_of("sleep(60)")
    assert result.message == "killed at its limit of 2 s in stage 'export'"


@pytest.mark.parametrize(
    ("test_class", "stage"), [("SetUpHangs", "setup"), ("TearDownHangs", "teardown")]
)
def test_hang_in_a_fixture_is_a_timeout_there(test_class: str, stage: str) -> None:
    # B31
    result = runner.execute(request(test_class=test_class, timeout=2))

    assert (result.outcome, result.stage) == (Outcome.TIMEOUT, stage)


def test_case_that_takes_too_much_memory_has_crashed_and_tells_limit_and_peak() -> None:
    # What it holds already is 200 MB and more: torch is in it.
    settings = RunSettings(case_memory=64 << 20)
    result = runner.execute(replace(request("Hangs", timeout=20), settings=settings))

    assert (result.outcome, result.signal, result.exit_code) == (Outcome.CRASHED, "SIGKILL", 137)
    assert result.peak_rss_mb is not None
    assert result.peak_rss_mb > 64
    assert (result.message or "").startswith(
        "killed at its memory limit of 64 MiB (--case-memory)"
    )


def test_child_has_the_environment_of_its_backend() -> None:
    result = runner.execute(request(test_class="ReportsItsProcess"))

    assert result.message is not None
    assert "--added default" in result.message
    assert f"pid {os.getpid()} " not in result.message


@pytest.mark.parametrize("name", ["made_in_a_function.<locals>.Inner", "NoSuchTest"])
def test_a_test_class_that_a_child_cannot_find_is_told_so(name: str) -> None:
    result = runner.execute(request(test_class=name))

    assert (result.outcome, result.stage) == (Outcome.FAILED, "import")
    assert result.message is not None
    assert result.message.startswith(f"UnreachableTestClassError: {name} cannot be found")
    assert "define it at the top of the module, outside any function" in result.message


# --- the course of a case, in this process ---


@pytest.mark.parametrize(
    ("model_class", "test_class", "outcome", "stage", "words"),
    [
        ("Passes", "Host", Outcome.PASSED, "compare", None),
        ("Raises", "Host", Outcome.FAILED, "prepare", "ValueError: no such model"),
        ("SkipsItself", "Host", Outcome.SKIPPED, "prepare", None),
        ("Passes", "SetUpRaises", Outcome.FAILED, "setup", "RuntimeError: no fixture"),
        ("Passes", "SetUpSkips", Outcome.SKIPPED, "setup", None),
        ("Passes", "SetUpExits", Outcome.FAILED, "setup", "SystemExit: 3"),
        ("Passes", "TearDownRaises", Outcome.FAILED, "teardown", "RuntimeError: cannot clean up"),
        ("Passes", "NoSuchClass", Outcome.FAILED, "import", "UnreachableTestClassError"),
    ],
)
def test_python_faults_become_results_with_their_stage(
    model_class: str, test_class: str, outcome: Outcome, stage: str, words: str | None
) -> None:
    result = runner.execute(request(model_class, test_class, isolate="never"))

    assert (result.outcome, result.stage) == (outcome, stage)
    assert (result.message or "").startswith(words or "")


@pytest.mark.parametrize(("seed", "outcome"), [(0, Outcome.PASSED), (1, Outcome.FAILED)])
def test_a_test_has_the_seed_of_its_case(seed: int, outcome: Outcome) -> None:
    result = runner.execute(request(test_class="Seeded", isolate="never", seed=seed))

    assert result.outcome is outcome


def test_fault_of_the_fixtures_is_added_to_that_of_the_model() -> None:
    result = runner.execute(request("Raises", "TearDownRaises", isolate="never"))

    assert result.stage == "prepare"
    assert result.message is not None
    assert result.message.startswith("ValueError: no such model")
    assert "cannot clean up" in result.message


@pytest.mark.parametrize(
    ("test_class", "steps"),
    [
        ("Host", "setUpClass setUp subject tearDown cleanup tearDownClass"),
        ("SetUpRaises", "setUpClass setUp cleanup tearDownClass"),
        ("TearDownRaises", "setUpClass setUp subject tearDown cleanup tearDownClass"),
    ],
)
def test_fixtures_run_in_the_order_of_unittest(hosts: Any, test_class: str, steps: str) -> None:
    runner.execute(request(test_class=test_class, isolate="never"))

    assert getattr(hosts, test_class).log == steps.split()


@pytest.mark.parametrize("source", ["import no_such_module_anywhere", "def broken(:"])
def test_test_module_that_cannot_be_imported_is_a_failed_case(tmp_path: Path, source: str) -> None:
    # B42
    path = tmp_path / "test_broken.py"
    path.write_text(source)
    broken = replace(request(isolate="never"), module="test_broken", path=str(path))
    result = runner.execute(broken)

    assert (result.outcome, result.stage) == (Outcome.FAILED, "import")


@pytest.mark.parametrize(
    ("isolate", "can_crash", "isolated"),
    [
        ("auto", True, True),
        ("auto", False, False),
        ("always", False, True),
        ("never", True, False),
    ],
)
def test_who_gets_a_process(hosts: Any, isolate: str, can_crash: bool, isolated: bool) -> None:
    backend = hosts.FaultyBackend()
    backend.can_crash = can_crash

    assert RunSettings(isolate=isolate).isolates(backend) is isolated


@pytest.mark.parametrize(
    ("current", "wanted"),
    [
        ({}, {"FAULTY_FLAGS": "--added", "FAULTY_DEVICE": "default"}),
        ({"FAULTY_FLAGS": "--own"}, {"FAULTY_FLAGS": "--own --added", "FAULTY_DEVICE": "default"}),
        (
            {"FAULTY_FLAGS": "--added=2"},
            {"FAULTY_FLAGS": "--added=2 --added", "FAULTY_DEVICE": "default"},
        ),
        (
            {"FAULTY_FLAGS": "--added --own", "FAULTY_DEVICE": "own"},
            {"FAULTY_FLAGS": "--added --own", "FAULTY_DEVICE": "default"},
        ),
    ],
)
def test_flags_are_added_and_all_else_is_set(
    hosts: Any, current: dict[str, str], wanted: dict[str, str]
) -> None:
    assert runner.environment_of(hosts.FaultyBackend(), None, current) == wanted


# --- ends that need no process ---


def test_lost_server_and_hung_import_lose_no_case() -> None:
    lost = judged(Ending.SERVER_DIED, notes=("the fork server ended with status -9",))
    hung = judged(Ending.HUNG_IMPORT, notes=("hung before test start: importing x hung",))

    assert (lost.outcome, hung.outcome) == (Outcome.CRASHED, Outcome.TIMEOUT)
    assert "status -9" in (lost.message or "")
    assert hung.message == "hung before test start: importing x hung"
    assert hung.stage == lost.stage == "import"


def test_memory_limit_is_told_with_what_was_held() -> None:
    limited = replace(request(), settings=RunSettings(case_memory=8 << 30))
    result = judged(Ending.MEMORY, limited, signal="SIGKILL", stage="export", peak_rss_mb=8704.0)

    assert result.outcome is Outcome.CRASHED
    assert result.message == (
        "killed at its memory limit of 8 GiB (--case-memory) in stage 'export': it held 8.5 GiB"
    )


def test_stack_is_told_from_the_package_on_and_has_an_end() -> None:
    frame = Frame("/env/lib/python3.11/site-packages/transformers/a.py", 3, "forward")
    result = judged(Ending.SIGNALED, signal="SIGSEGV", stack=(frame,) * 500)

    assert result.stack[0] == "transformers/a.py:3 in forward"
    assert len(result.stack) == 40


def test_kill_without_a_word_names_who_sends_it() -> None:
    result = judged(Ending.SIGNALED, signal="SIGKILL", exit_code=137, stage="export")

    assert "OOM killer" in (result.message or "")


def test_result_keeps_its_verdict_when_the_exit_goes_wrong() -> None:
    passed = CaseResult.of(request().case, "an id", Outcome.PASSED)
    row = {"case_id": "an id", **vars(passed), "outcome": "passed", "metrics": {}}
    result = judged(Ending.RESULT, result=row, notes=("the process died by SIGSEGV at exit",))

    assert result.outcome is Outcome.PASSED
    assert result.message == "the process died by SIGSEGV at exit"


@pytest.mark.parametrize("row", [None, [], {"case_id": "x"}, {"case_id": "x", "outcome": "odd"}])
def test_result_of_another_shape_is_a_failure(row: Any) -> None:
    result = judged(Ending.RESULT, result=row)

    assert result.outcome is Outcome.FAILED
    assert result.message is not None


def test_words_of_the_runtime_are_the_message() -> None:
    stderr = "warning: slow\nF1 a.cc:7] Check failed: ok\n*** Begin stack trace ***\n"
    result = judged(Ending.SIGNALED, signal="SIGABRT", exit_code=134, stderr=stderr)

    assert result.message == "F1 a.cc:7] Check failed: ok"


def test_characters_of_the_runtime_can_be_written_anywhere() -> None:
    # B34
    words = "Check failed: \x1b[31m\x00 \ud800 ]]>"
    result = judged(Ending.SIGNALED, signal="SIGABRT", exit_code=134, stderr=words)

    assert result.message is not None
    assert "\x1b" not in result.message
    assert "\x00" not in result.message
    result.message.encode()


@pytest.mark.parametrize(
    ("files", "source"),
    [
        (["/t/functional.py", "/t/modeling_a.py", "/t/modeling_b.py"], "modeling_a.py:2"),
        (["/t/transformers/modeling_utils.py", HOSTS.path], "execution_hosts.py:2"),
        (["/t/functional.py"], None),
        ([], None),
    ],
)
def test_source_is_the_innermost_line_of_a_model(files: list[str], source: str | None) -> None:
    stack = tuple(Frame(path, line, "forward") for line, path in enumerate(files, 1))

    assert judged(Ending.SIGNALED, signal="SIGSEGV", stack=stack).source == source


def test_exception_outside_the_case_is_a_failure_with_its_text() -> None:
    error = ChildError("KeyError", "'case'", "", ())
    result = judged(Ending.ERROR, error=error)

    assert (result.outcome, result.message) == (Outcome.FAILED, "KeyError: 'case'")


def test_op_of_the_rerun_joins_the_crash() -> None:
    crash = judged(Ending.SIGNALED, signal="SIGSEGV", exit_code=139, stage="export")
    rerun = CaseResult.of(
        request().case, "x", Outcome.FAILED, op="aten::im2col", operand="w", source="a.py:1"
    )
    joined = with_op(crash, rerun)

    assert (joined.outcome, joined.signal) == (Outcome.CRASHED, "SIGSEGV")
    assert (joined.op, joined.operand, joined.source) == ("aten::im2col", "w", "a.py:1")


def test_crashed_result_knows_what_was_installed() -> None:
    result = judged(Ending.SIGNALED, signal="SIGKILL", peak_rss_mb=12.5, stages={"export": 1.5})

    assert set(result.versions) == {"python", "pytest"}
    assert (result.peak_rss_mb, result.seconds) == (12.5, {"export": 1.5})
