"""What the isolation tests run in a child: one function for each way of ending."""

from __future__ import annotations

import atexit
import ctypes
import math
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Report = Callable[[str], None]
kept: list[tempfile.TemporaryDirectory[str]] = []


class _Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def echo(payload: Any, report: Report) -> Any:
    report("work")
    return payload


def two_stages(payload: Any, report: Report) -> None:
    report("first")
    report("second")
    time.sleep(0.05)


def facts(payload: Any, report: Report) -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "group": os.getpgid(0),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "modules": sorted(sys.modules),
        "environment": dict(os.environ),
    }


def die_by(payload: int, report: Report) -> None:
    report("export")
    os.kill(os.getpid(), payload)
    time.sleep(10)


def read_null(payload: Any, report: Report) -> None:
    report("export")
    ctypes.string_at(0)


def abort_with_words(payload: str, report: Report) -> None:
    report("export")
    os.write(2, payload.encode())
    ctypes.CDLL(None).abort()


def exit_with(payload: int, report: Report) -> None:
    report("run")
    os._exit(payload)


def system_exit(payload: Any, report: Report) -> None:
    raise SystemExit(3)


def raise_error(payload: str, report: Report) -> None:
    report("eager")
    raise ValueError(payload)


def raise_unprintable(payload: Any, report: Report) -> None:
    raise _Unprintable


def odd_values(payload: Any, report: Report) -> dict[str, Any]:
    return {
        "path": Path("/tmp/x"),
        "error": _Unprintable(),
        "signal": signal.SIGTERM,
        "text": "\ud800\x00\x1b[31m]]>",
        "nan": math.nan,
        "function": echo,
    }


def tuple_keys(payload: Any, report: Report) -> Any:
    return {(1, 2): 3}


def hang_with_lock(payload: Any, report: Report) -> None:
    report("run")
    ctypes.PyDLL(None).sleep(60)


def hang_in_native(payload: Any, report: Report) -> None:
    """Sleep in C without the interpreter's lock, and sleep on when a signal comes."""
    report("run")
    while True:
        ctypes.CDLL(None).sleep(60)


def read_lost_page(payload: Any, report: Report) -> None:
    """SIGBUS, as it really comes: the file of a mapped page has been cut."""
    report("export")
    with tempfile.TemporaryFile() as file:
        file.truncate(mmap.PAGESIZE)
        view = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        file.truncate(0)
        view[0]


def hold(payload: dict[str, int], report: Report) -> str:
    """Hold so many MiB in each of some processes, for so many seconds."""
    report("export")
    for _ in range(payload["processes"] - 1):
        if os.fork() == 0:
            break
    block = bytearray(b"x") * (payload["megabytes"] << 20)
    time.sleep(payload["seconds"])
    return f"{len(block)} bytes"


def hold_shared(payload: dict[str, int], report: Report) -> str:
    """Hold so many MiB once, shared by some processes, for so many seconds."""
    block = bytearray(b"x") * (payload["megabytes"] << 20)
    for _ in range(payload["processes"] - 1):
        if os.fork() == 0:
            time.sleep(payload["seconds"])
            os._exit(0)
    time.sleep(payload["seconds"])
    return f"{len(block)} bytes"


def huge_pages_of_the_server(payload: Any, report: Report) -> int:
    rollup = Path(f"/proc/{os.getppid()}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in rollup if line.startswith("AnonHugePages:"))


def oom_score(payload: Any, report: Report) -> int:
    return int(Path("/proc/self/oom_score_adj").read_text())


def hang_ignoring_sigterm(payload: Any, report: Report) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    report("run")
    while True:
        time.sleep(1)


def leave_grandchild(payload: dict[str, Any], report: Report) -> int:
    grandchild = subprocess.Popen(["sleep", "60"], start_new_session=payload["own_session"])
    if payload["hang"]:
        Path(payload["file"]).write_text(str(grandchild.pid))
        time.sleep(60)
    return grandchild.pid


def flood(payload: int, report: Report) -> str:
    report("run")
    os.write(1, b"first words\n")
    block = b"x" * (1 << 20)
    for _ in range(payload):
        os.write(1, block)
        os.write(2, block)
    os.write(1, b"last words\n")
    return "done"


def invalid_utf8(payload: Any, report: Report) -> None:
    os.write(2, b"caf\xe9 \xff\n")
    print("caf\xe9 \ud800")


def write_garbage(payload: Any, report: Report) -> None:
    """Scribble on every descriptor, as native code with a wrong number does."""
    for name in os.listdir("/proc/self/fd"):
        try:
            os.write(int(name), b"\x00garbage\n")
        except OSError:
            continue
    os._exit(0)


def crash_at_exit(payload: Any, report: Report) -> str:
    atexit.register(os.kill, os.getpid(), signal.SIGSEGV)
    return "kept"


def hang_at_exit(payload: Any, report: Report) -> str:
    atexit.register(time.sleep, 60)
    return "kept"


def clean_at_exit(payload: str, report: Report) -> str:
    """Leave a file to ``atexit`` and a directory to a finalizer."""
    Path(payload).write_text("here")
    atexit.register(os.unlink, payload)
    kept.append(tempfile.TemporaryDirectory())
    return kept[-1].name


def crash_in_thread(payload: Any, report: Report) -> None:
    report("run")
    threading.Thread(target=ctypes.string_at, args=(0,)).start()
    time.sleep(10)


def hang_with_a_stopped_server(payload: Any, report: Report) -> None:
    report("run")
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(60)


def stop(payload: Any, report: Report) -> None:
    report("run")
    os.kill(os.getpid(), signal.SIGSTOP)


def die_with_server(payload: str, report: Report) -> None:
    report("export")
    grandchild = subprocess.Popen(["sleep", "60"], start_new_session=True)
    Path(payload).write_text(str(grandchild.pid))
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(10)
