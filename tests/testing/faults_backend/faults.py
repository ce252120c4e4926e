"""The faults themselves, one function each; all are real and none is a stand-in."""

from __future__ import annotations

import atexit
import ctypes
import mmap
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Final

from tests.testing.faults_backend.plan import is_first_time

__all__ = ["FAULTS"]

_MEGABYTE: Final = 1 << 20


def _segfault(model_class: str) -> None:
    ctypes.string_at(0)


def _abort(model_class: str) -> None:
    os.write(2, b"F0000 00:00 client.cc:1] Check failed: data != nullptr PjRt is null\n")
    os.abort()


def _kill_itself(model_class: str) -> None:
    """Die as by the kernel's OOM killer, which sends this and leaves nothing else."""
    os.kill(os.getpid(), signal.SIGKILL)


def _bus_error(model_class: str) -> None:
    """Read a mapped page that is not in its file any more."""
    with tempfile.TemporaryFile() as file:
        file.truncate(mmap.PAGESIZE)
        view = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        file.truncate(0)
        view[0]


def _exit(model_class: str) -> None:
    os._exit(0)


def _crash_at_exit(model_class: str) -> None:
    atexit.register(ctypes.string_at, 0)


def _hang_with_lock(model_class: str) -> None:
    ctypes.PyDLL(None).sleep(60)


def _hang_in_native(model_class: str) -> None:
    """Native code that has let go of the interpreter's lock, and sleeps on after a signal."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        ctypes.CDLL(None).sleep(60)


def _leave_grandchild(model_class: str) -> None:
    subprocess.Popen(["sleep", "60"], start_new_session=True)


def _kill_server_once(model_class: str) -> None:
    if is_first_time(model_class):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(10)


def _flood(model_class: str) -> None:
    block = b"x" * _MEGABYTE
    for _ in range(100):
        os.write(1, block)
        os.write(2, block)


def _eat_memory(model_class: str) -> None:
    """Take what is far beyond the limit, and touch it; what nobody stops ends all the same."""
    taken = [bytearray(b"x") * (64 * _MEGABYTE) for _ in range(40)]
    time.sleep(10)
    raise MemoryError(f"{len(taken)} blocks were taken")


def _crash_once(model_class: str) -> None:
    if is_first_time(model_class):
        _segfault(model_class)


FAULTS: Final[Mapping[str, Callable[[str], None]]] = {
    "Segfaults": _segfault,
    "Aborts": _abort,
    "IsKilled": _kill_itself,
    "BusErrors": _bus_error,
    "ExitsEarly": _exit,
    "CrashesAtExit": _crash_at_exit,
    "HangsWithLock": _hang_with_lock,
    "HangsInNative": _hang_in_native,
    "LeavesGrandchild": _leave_grandchild,
    "KillsServerOnce": _kill_server_once,
    "Floods": _flood,
    "EatsMemory": _eat_memory,
    "CrashesOnce": _crash_once,
}
"""What the export of a class with each fault does before it goes on."""
