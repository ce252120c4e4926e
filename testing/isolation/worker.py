"""What runs in a forked child: the target, between a set-up and an end that cannot lose it."""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import gc
import os
import signal
import sys
import time
import traceback
import weakref
from typing import Any, NoReturn

from testing.faults import text_of
from testing.isolation import linux, wire
from testing.isolation.modules import ModuleSpec, load_module

__all__ = ["STACK_SIGNAL", "Reporter", "main"]

STACK_SIGNAL = signal.SIGUSR2
"""Makes the child write its Python stack, also while it holds the interpreter's lock."""

_MOST_TEXT = 64 * 1024


class Reporter:
    """What the target is given to tell of its progress."""

    def __init__(self, events: int) -> None:
        """Write events to a descriptor."""
        self._events = events

    def __call__(self, stage: str) -> None:
        """Tell that a stage begins."""
        _write(self._events, wire.encode({"stage": stage, "at": time.monotonic()}))

    def part(self, value: Any) -> None:
        """Tell a part of the result, as JSON carries it, that must outlive this process."""
        _write(self._events, wire.encode({"part": value}))


def main(task: dict[str, Any], descriptors: list[int], server: int) -> NoReturn:
    """Run `task` and end the process.

    Args:
        task: The target, its payload and the number of threads.
        descriptors: For events, for the fault's stack, for standard output and error.
        server: Id of the process that forked this one.
    """
    status = 1
    try:
        events, fault, stdout, stderr = descriptors
        _become_child(server, fault, stdout, stderr)
        _forget_exit_functions()
        _set_threads(task["threads"])
        _write(events, _outcome(task, events))
        _run_exit_functions()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        # Not sys.exit: the server's frames are on this stack, and finalising an interpreter
        # with a device runtime in it is slow and known to crash.
        os._exit(status)


def _become_child(server: int, fault: int, stdout: int, stderr: int) -> None:
    os.setsid()
    linux.die_with_parent(server)
    linux.be_killed_first()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.close(stdout)
    os.close(stderr)
    for stream in (sys.stdout, sys.stderr):
        # What a child printed must be out before it dies, whatever characters it holds.
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    faulthandler.enable(file=fault)
    faulthandler.register(STACK_SIGNAL, file=fault)
    gc.enable()


def _forget_exit_functions() -> None:
    """Leave to the server what was registered there; torch's alone take 0.1 s in each child."""
    atexit._clear()
    for finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        finalizer.atexit = False
    # The next finalizer registers the function that runs those of the child.
    weakref.finalize._registered_with_atexit = False  # type: ignore[attr-defined]


def _set_threads(count: int) -> None:
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(count)


def _outcome(task: dict[str, Any], events: int) -> bytes:
    """The event that ends the task: its result or the exception that it raised."""
    report = Reporter(events)
    try:
        module, _, function = task["target"].partition(":")
        target = getattr(load_module(ModuleSpec(module, task["path"])), function)
        return wire.encode({"result": target(task["payload"], report)})
    except BaseException as error:
        return wire.encode({"error": _described(error)})


def _described(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "kind": type(error).__name__,
        "message": _clipped(text_of(error)),
        "traceback": _clipped("".join(traceback.format_exception(error))),
        "frames": [[f.filename, f.lineno or 0, f.name] for f in reversed(frames)],
    }


def _clipped(text: str) -> str:
    if len(text) <= 2 * _MOST_TEXT:
        return text
    dropped = len(text) - 2 * _MOST_TEXT
    return f"{text[:_MOST_TEXT]}\n[{dropped} characters dropped]\n{text[-_MOST_TEXT:]}"


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _run_exit_functions() -> None:
    """What the child has to clean up, such as temporary directories; the result is out."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
