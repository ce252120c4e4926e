"""The isolation layer, on real faults in real processes."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testing.isolation import ChildReport, Ending, ForkServer, ModuleSpec, Task
from testing.isolation.output import HeadTail
from testing.isolation.report import parse_fault

TARGETS = Path(__file__).with_name("isolation_targets.py")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with ForkServer(exit_timeout=0.5) as server:
        yield server


def task(function: str, payload: Any = None, **options: Any) -> Task:
    return Task(f"isolation_targets:{function}", payload, path=str(TARGETS), **options)


def run(
    server: ForkServer, function: str, payload: Any = None, timeout: float = 20
) -> ChildReport:
    return server.run(task(function, payload, timeout=timeout))


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def is_gone(*pids: int, seconds: float = 5) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(map(is_alive, pids)):
            return True
        time.sleep(0.01)
    return False


def module(folder: Path, source: str, name: str = "probe_module") -> ModuleSpec:
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(source))
    return ModuleSpec(name, str(path))


# --- a child that works ---


@pytest.mark.parametrize("payload", [None, 3, "\ud800\x00é", [1, {"a": None}], "x" * 3_000_000])
def test_payload_and_result_cross_unchanged(server: ForkServer, payload: Any) -> None:
    report = run(server, "echo", payload)

    assert (report.ending, report.result, report.notes) == (Ending.RESULT, payload, ())


def test_every_child_is_a_process_of_its_own(server: ForkServer) -> None:
    first, second = (run(server, "facts").result for _ in range(2))

    assert first["pid"] != second["pid"]
    assert first["parent"] == second["parent"] == server.pid
    assert first["group"] == first["pid"]


def test_stages_are_timed_and_told_as_they_begin(server: ForkServer) -> None:
    told: list[str] = []
    report = server.run(task("two_stages"), told.append)

    assert told == ["first", "second"]
    assert report.stage == "second"
    assert report.stages["second"] >= 0.05 > report.stages["first"]


def test_environment_is_that_of_the_server() -> None:
    with ForkServer(environment={"ISOLATION_TEST": "set"}) as server:
        assert run(server, "facts").result["environment"]["ISOLATION_TEST"] == "set"
    assert "ISOLATION_TEST" not in os.environ


def test_search_path_is_the_parents_of_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "late_helper.py").write_text("value = 7")
    spec = module(
        tmp_path, "import late_helper\ndef get(payload, report): return late_helper.value"
    )
    with ForkServer() as server:
        run(server, "echo")
        monkeypatch.syspath_prepend(str(tmp_path))
        report = server.run(Task(f"{spec.name}:get", path=spec.path, modules=(spec,)))

    assert report.result == 7


def test_modules_are_imported_once_in_the_server(tmp_path: Path) -> None:
    # B43's good case: the import's side effect happens once, for all children.
    log = tmp_path / "log"
    spec = module(tmp_path, f"open({str(log)!r}, 'a').write('imported\\n')")
    with ForkServer() as server:
        reports = [server.run(task("facts", modules=(spec,))) for _ in range(3)]

    assert log.read_text() == "imported\n"
    assert all("probe_module" in report.result["modules"] for report in reports)


def test_values_that_json_has_not_become_text(server: ForkServer) -> None:
    # B46: an object of any kind in a result loses neither the verdict nor the session.
    result = run(server, "odd_values").result

    assert result["path"] == "/tmp/x"
    assert result["error"] == "<its text cannot be had: __str__ raised RuntimeError>"
    assert result["signal"] == signal.SIGTERM
    assert result["text"] == "\ud800\x00\x1b[31m]]>"
    assert math.isnan(result["nan"])
    assert "echo" in result["function"]


def test_exit_functions_of_the_child_run(server: ForkServer, tmp_path: Path) -> None:
    file = tmp_path / "temporary"

    report = run(server, "clean_at_exit", str(file))

    assert report.ending is Ending.RESULT
    assert not file.exists()
    assert not Path(report.result).exists()


def test_exit_functions_of_the_server_do_not_run_in_children(tmp_path: Path) -> None:
    log = tmp_path / "log"
    spec = module(
        tmp_path,
        f"""
        import atexit, weakref
        class Kept: pass
        def leave(what): open({str(log)!r}, "a").write(what)
        kept = Kept()
        atexit.register(leave, "function ")
        weakref.finalize(kept, leave, "finalizer ")
        """,
    )
    with ForkServer() as server:
        server.run(task("echo", modules=(spec,)))
        assert not log.exists()


def test_nothing_accumulates(server: ForkServer) -> None:
    run(server, "echo")
    before = len(os.listdir("/proc/self/fd"))
    descriptors = {run(server, "facts").result["descriptors"] for _ in range(20)}
    zombies = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()

    assert len(os.listdir("/proc/self/fd")) == before
    assert len(descriptors) == 1
    assert zombies == ""


# --- a child that fails ---


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGKILL", "SIGBUS", "SIGTERM"])
def test_death_by_signal_is_named(server: ForkServer, name: str) -> None:
    number = signal.Signals[name]
    report = run(server, "die_by", int(number))

    assert report.ending is Ending.SIGNALED
    assert (report.signal, report.exit_code) == (name, 128 + number)
    assert report.stage == "export"
    assert report.result is None


def test_fault_leaves_the_python_stack(server: ForkServer) -> None:
    report = run(server, "read_null")
    in_target = [frame for frame in report.stack if frame.path == str(TARGETS)]

    assert report.signal == "SIGSEGV"
    assert in_target[0].function == "read_null"
    assert "string_at" in TARGETS.read_text().splitlines()[in_target[0].line - 1]


def test_page_that_is_gone_is_a_bus_error_with_its_stack(server: ForkServer) -> None:
    report = run(server, "read_lost_page")

    assert (report.signal, report.exit_code) == ("SIGBUS", 135)
    assert report.stack[0].function == "read_lost_page"


def test_fault_in_a_thread_is_told_from_that_thread(server: ForkServer) -> None:
    report = run(server, "crash_in_thread")

    assert report.signal == "SIGSEGV"
    assert report.stack[0].function == "string_at"


def test_last_words_before_an_abort_are_kept(server: ForkServer) -> None:
    report = run(server, "abort_with_words", "Check failed: buffer != nullptr\n")

    assert (report.signal, report.exit_code) == ("SIGABRT", 134)
    assert report.stderr == "Check failed: buffer != nullptr\n"


def test_exit_without_a_result_is_no_success(server: ForkServer) -> None:
    report = run(server, "exit_with", 0)

    assert (report.ending, report.exit_code, report.signal) == (Ending.NO_RESULT, 0, None)
    assert report.stage == "run"


def test_exit_status_is_kept(server: ForkServer) -> None:
    report = run(server, "exit_with", 7)

    assert (report.ending, report.exit_code, report.signal) == (Ending.EXITED, 7, None)


@pytest.mark.parametrize("text", ["plain", "\x1b[31mNUL \x00 \ud800 ]]> <&\"'"])
def test_exception_comes_with_its_frames(server: ForkServer, text: str) -> None:
    report = run(server, "raise_error", text)

    assert report.ending is Ending.ERROR
    assert report.error is not None
    assert (report.error.kind, report.error.message) == ("ValueError", text)
    assert report.error.frames[0].function == "raise_error"
    assert report.stage == "eager"


def test_exception_whose_text_raises_is_still_an_exception(server: ForkServer) -> None:
    # B46
    report = run(server, "raise_unprintable")

    assert report.error is not None
    assert report.error.kind == "_Unprintable"


@pytest.mark.parametrize(
    ("function", "kind"), [("system_exit", "SystemExit"), ("tuple_keys", "TypeError")]
)
def test_other_python_faults_are_errors(server: ForkServer, function: str, kind: str) -> None:
    report = run(server, function)

    assert report.ending is Ending.ERROR
    assert report.error is not None
    assert report.error.kind == kind


def test_long_message_is_clipped(server: ForkServer) -> None:
    # B34: a line of 1 MB.
    report = run(server, "raise_error", "a" + "b" * 1_000_000 + "c")

    assert report.error is not None
    assert len(report.error.message) < 200_000
    assert (report.error.message[0], report.error.message[-1]) == ("a", "c")


def test_report_that_is_no_json_is_told(server: ForkServer) -> None:
    report = run(server, "write_garbage")

    assert report.ending is Ending.INVALID
    assert any("garbage" in note for note in report.notes)


def test_output_without_end_neither_blocks_nor_fills_memory(server: ForkServer) -> None:
    # 100 MB on each of the two streams.
    report = run(server, "flood", 100, timeout=60)

    assert report.result == "done"
    assert report.stdout.startswith("first words\n")
    assert report.stdout.endswith("last words\n")
    assert len(report.stdout) + len(report.stderr) < 500_000


def test_output_that_is_no_text_is_escaped(server: ForkServer) -> None:
    # B34: invalid UTF-8 on native stderr, a lone surrogate in print.
    report = run(server, "invalid_utf8")

    assert report.stderr == "caf\\xe9 \\xff\n"
    assert report.ending is Ending.RESULT
    assert "\\ud800" in report.stdout


# --- a child that does not end ---


@pytest.mark.parametrize("function", ["hang_with_lock", "hang_in_native", "hang_ignoring_sigterm"])
def test_hang_ends_at_its_limit_with_stage_and_stack(server: ForkServer, function: str) -> None:
    # B31: native code that holds the interpreter's lock.
    report = run(server, function, timeout=0.3)

    assert report.seconds < 60, "the hang came to its own end"
    assert report.ending is Ending.TIMEOUT
    assert (report.stage, report.signal, report.exit_code) == ("run", None, None)
    assert any(frame.function == function for frame in report.stack)
    assert run(server, "echo", 1).result == 1


def test_stopped_child_ends_at_its_limit(server: ForkServer) -> None:
    assert run(server, "stop", timeout=0.3).ending is Ending.TIMEOUT


def test_server_that_is_slow_to_tell_of_a_kill_is_waited_for() -> None:
    # On a machine with more to do than it can, the end of the child's pipes comes long before.
    with ForkServer() as server:
        run(server, "echo")
        assert server.pid is not None
        threading.Timer(1.0, os.kill, (server.pid, signal.SIGCONT)).start()
        report = run(server, "hang_with_a_stopped_server", timeout=0.2)

    assert (report.ending, report.stage, report.notes) == (Ending.TIMEOUT, "run", ())


@pytest.mark.parametrize("own_session", [False, True])
def test_grandchild_does_not_outlive_the_child(server: ForkServer, own_session: bool) -> None:
    payload = {"own_session": own_session, "hang": False}

    assert is_gone(run(server, "leave_grandchild", payload).result)


@pytest.mark.parametrize("own_session", [False, True])
def test_grandchild_of_a_hang_is_killed_too(
    server: ForkServer, tmp_path: Path, own_session: bool
) -> None:
    file = tmp_path / "pid"
    payload = {"own_session": own_session, "hang": True, "file": str(file)}

    assert run(server, "leave_grandchild", payload, timeout=0.5).ending is Ending.TIMEOUT
    assert is_gone(int(file.read_text()))


@pytest.mark.parametrize(
    ("function", "note"), [("crash_at_exit", "SIGSEGV"), ("hang_at_exit", "hung")]
)
def test_result_stands_when_the_exit_goes_wrong(
    server: ForkServer, function: str, note: str
) -> None:
    # B31's variant at interpreter exit.
    report = run(server, function)

    assert (report.ending, report.result) == (Ending.RESULT, "kept")
    assert [note in text for text in report.notes] == [True]


# --- a child that takes memory ---

MEGABYTE = 1 << 20


def held(function: str, limit: int, **payload: int) -> Task:
    return task(function, payload, memory=limit * MEGABYTE, timeout=20)


@pytest.mark.parametrize("processes", [1, 4])
def test_memory_is_limited_for_a_child_and_all_it_starts(
    server: ForkServer, processes: int
) -> None:
    each = 600 // processes
    report = server.run(held("hold", 300, megabytes=each, processes=processes, seconds=10))

    assert (report.ending, report.stage) == (Ending.MEMORY, "export")
    assert (report.signal, report.exit_code) == ("SIGKILL", 137)
    assert report.peak_rss_mb is not None
    assert 300 < report.peak_rss_mb < 900


def test_a_limit_below_what_a_child_begins_with_ends_it(server: ForkServer) -> None:
    report = server.run(held("hold", 1, megabytes=1, processes=1, seconds=30))

    assert (report.ending, report.signal) == (Ending.MEMORY, "SIGKILL")


def test_memory_that_processes_share_counts_once(server: ForkServer) -> None:
    payload = {"megabytes": 150, "processes": 4, "seconds": 1}
    report = server.run(held("hold_shared", 400, **payload))

    assert (report.ending, report.result) == (Ending.RESULT, f"{150 * MEGABYTE} bytes")


def test_the_kernel_takes_a_child_before_its_parents(server: ForkServer) -> None:
    assert run(server, "oom_score").result == 1000


def _has_collapse() -> bool:
    release = os.uname().release.split(".")
    return sys.platform == "linux" and (int(release[0]), int(release[1])) >= (6, 1)


@pytest.mark.skipif(not _has_collapse(), reason="MADV_COLLAPSE came with Linux 6.1")
def test_what_the_server_holds_is_in_huge_pages_and_unchanged(tmp_path: Path) -> None:
    spec = module(
        tmp_path,
        """
        held = bytearray(range(256)) * (64 << 12)
        def is_unchanged(payload, report):
            held[0] = 1
            return held[1:] == (bytes(range(256)) * (64 << 12))[1:]
        """,
    )
    with ForkServer() as server:
        unchanged = server.run(Task(f"{spec.name}:is_unchanged", path=spec.path, modules=(spec,)))
        kilobytes = run(server, "huge_pages_of_the_server").result

    assert unchanged.result is True
    assert kilobytes >= 48 * 1024


# --- the server ---


def test_server_killed_between_tasks_is_replaced() -> None:
    with ForkServer() as server:
        run(server, "echo")
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        report = run(server, "echo", "after")

    assert report.result == "after"
    assert any("fork server ended" in note for note in report.notes)


def test_server_that_dies_with_its_child_takes_the_task_and_no_other(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    with ForkServer() as server:
        report = run(server, "die_with_server", str(file))
        after = run(server, "echo", 1)

    assert (report.ending, report.stage) == (Ending.SERVER_DIED, "export")
    assert "fork server ended with status -9" in report.notes[0]
    assert (after.result, server.starts) == (1, 2)
    # The kernel ends the child with the server, and nobody a grandchild in its own session.
    assert is_gone(int(file.read_text()))


def test_server_that_cannot_start_is_reported(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os; os._exit(7)")
    with ForkServer(environment={"PYTHONPATH": str(tmp_path)}) as server:
        report = run(server, "echo")

    assert report.ending is Ending.SERVER_DIED
    assert ["status 7" in note for note in report.notes] == [True, True]


def test_closing_leaves_no_process() -> None:
    server = ForkServer()
    run(server, "echo")
    pid = server.pid
    server.close()
    server.close()

    assert pid is not None
    assert is_gone(pid)
    assert server.pid is None


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """A process that a shell has put into the background ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_once_written(file: Path) -> None:
    while not (file.exists() and file.read_text()):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.usefixtures("_interruptible")
def test_interrupt_ends_the_child_and_the_next_task_is_its_own(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    payload = {"own_session": False, "hang": True, "file": str(file)}
    with ForkServer() as server:
        run(server, "echo")
        pid = server.pid
        threading.Thread(target=interrupt_once_written, args=(file,), daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            run(server, "leave_grandchild", payload)
        assert pid is not None
        assert is_gone(pid, int(file.read_text()))
        assert run(server, "echo", "next").result == "next"


@pytest.mark.parametrize("doing", ["a task", "an import"])
def test_no_process_outlives_a_killed_parent(tmp_path: Path, doing: str) -> None:
    file = tmp_path / "pid"
    hang = module(
        tmp_path,
        f"""
        import ctypes, os
        open({str(file)!r}, "w").write(str(os.getpid()))
        ctypes.PyDLL(None).sleep(60)
        """,
    )
    script = f"""
        import sys
        from testing.isolation import ForkServer, ModuleSpec, Task
        server = ForkServer()
        payload = {{"own_session": True, "hang": True, "file": {str(file)!r}}}
        target = "isolation_targets:leave_grandchild"
        if {doing!r} == "an import":
            modules = (ModuleSpec({hang.name!r}, {hang.path!r}),)
        else:
            modules = ()
        server.run(Task(target, None, path={str(TARGETS)!r}))
        print(server.pid, flush=True)
        server.run(Task(target, payload, path={str(TARGETS)!r}, modules=modules))
        """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    with parent.stdout:
        server_pid = int(parent.stdout.readline())
        while not (file.exists() and file.read_text()):
            time.sleep(0.01)
        parent.kill()
        parent.wait()

    assert is_gone(server_pid, int(file.read_text()))


# --- imports in the server ---


@pytest.mark.parametrize(
    "source", ["import no_such_module", "def broken(:", "raise KeyError('x')"]
)
def test_module_that_raises_leaves_the_server_whole(tmp_path: Path, source: str) -> None:
    # B42: the child, which imports it again, is who tells the error.
    spec = module(tmp_path, source)
    with ForkServer() as server:
        broken = server.run(Task(f"{spec.name}:anything", path=spec.path, modules=(spec,)))
        other = run(server, "echo", 1)

        assert server.starts == 1
    assert broken.ending is Ending.ERROR
    assert other.result == 1


@pytest.mark.parametrize(
    ("source", "phrase"),
    [
        (
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=(60,), name='poller', daemon=True).start()",
            "starts thread 'poller'",
        ),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "status -11"),
    ],
)
def test_module_that_spoils_the_fork_is_named_and_left_to_the_child(
    tmp_path: Path, source: str, phrase: str
) -> None:
    # B43: a thread, or worse, at import.
    spec = module(tmp_path, source)
    with ForkServer() as server:
        first = server.run(task("echo", 1, modules=(spec,)))
        second = server.run(task("echo", 2, modules=(spec,)))

        assert server.starts == 2
    assert (first.result, second.result) == (1, 2)
    assert all("probe_module" in report.notes[0] for report in (first, second))
    assert phrase in first.notes[0]


def test_runtime_started_at_import_is_named(tmp_path: Path) -> None:
    # B43: the runtime is a stand-in with the one call that tells whether it is up.
    spec = module(
        tmp_path,
        """
        import sys, types
        xla = types.ModuleType("torch_xla")
        xla._XLAC = types.SimpleNamespace(_xla_runtime_is_initialized=lambda: True)
        sys.modules["torch_xla"] = xla
        """,
    )
    with ForkServer() as server:
        report = server.run(task("echo", 1, modules=(spec,)))

    assert report.result == 1
    assert "importing probe_module initialises the XLA runtime" in report.notes[0]


def test_import_that_hangs_is_bounded_named_and_not_tried_again(tmp_path: Path) -> None:
    # B31, B43: "hung before test start".
    spec = module(tmp_path, "import ctypes\nctypes.PyDLL(None).sleep(60)")
    with ForkServer() as server:
        first = server.run(task("echo", modules=(spec,), timeout=0.5))
        # Were it tried again, it would come to its end within this limit.
        second = server.run(task("echo", modules=(spec,), timeout=600))
        other = run(server, "echo", 1)

    assert first.ending is second.ending is Ending.HUNG_IMPORT
    assert "hung before test start: importing probe_module" in first.notes[0]
    assert "not tried again" in second.notes[0]
    assert other.result == 1


def test_modules_of_equal_name_are_told_apart_by_their_files(tmp_path: Path) -> None:
    reports = []
    with ForkServer() as server:
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir()
            source = f"def where(payload, report): return {folder!r}"
            spec = module(tmp_path / folder, source, "test_same")
            reports.append(server.run(Task("test_same:where", path=spec.path, modules=(spec,))))

    assert [report.result for report in reports] == ["one", "two"]


# --- pieces ---


def test_head_and_tail_of_a_stream_are_kept() -> None:
    record = HeadTail(kept=4)
    for part in (b"ab", b"cdef", b"ghij", b"kl"):
        record.feed(part)

    assert record.text() == "abcd\n[4 bytes dropped]\nijkl"


def test_short_stream_is_kept_whole() -> None:
    record = HeadTail(kept=4)
    record.feed(b"abcdefgh")

    assert record.text() == "abcdefgh"


FAULT = """Fatal Python error: Segmentation fault

Thread 0x00007f01 (most recent call first):
  File "/lib/threading.py", line 331 in wait

{current}
Thread 0x00007f03 (most recent call first):
  File "/lib/modeling_x.py", line 12 in forward
  File "<string>", line 1 in <module>

Extension modules: numpy.core (total: 1)
"""


@pytest.mark.parametrize(
    ("current", "innermost"),
    [
        ('Current thread 0x2 (most recent call first):\n  File "/a.py", line 5 in f\n', "/a.py"),
        # XLA's own thread: the main thread, which comes last, tells where the model is.
        (
            "Current thread 0x2 (most recent call first):\n  <no Python frame>\n",
            "/lib/modeling_x.py",
        ),
        ("", "/lib/modeling_x.py"),
    ],
)
def test_fault_is_read_from_the_thread_that_tells(current: str, innermost: str) -> None:
    assert parse_fault(FAULT.format(current=current))[0].path == innermost


def test_text_without_a_stack_has_no_frames() -> None:
    assert parse_fault("Fatal Python error: Aborted\n") == ()
