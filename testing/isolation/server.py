"""The fork server: a fresh interpreter that imports what children need and forks them."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Iterator
from typing import Any

from testing.isolation import hugepages, linux, wire, worker
from testing.isolation.hazards import Snapshot
from testing.isolation.modules import ModuleSpec, load_module

__all__ = ["main"]

_RECHECK_SECONDS = 1.0


def main(descriptor: int, parent: int) -> None:
    """Serve the parent at the other end of socket `descriptor` until it closes it or dies."""
    linux.adopt_orphans()
    # A dead child is told by its status; its core would only fill the disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    gc.disable()
    with socket.socket(fileno=descriptor) as control, contextlib.suppress(EOFError, OSError):
        while True:
            _serve(control, parent, *wire.receive(control))


def _serve(
    control: socket.socket, parent: int, message: dict[str, Any], descriptors: list[int]
) -> None:
    sys.path[:] = message["search_path"]
    if "import" in message:
        # An import can hang with the interpreter's lock held. At any other time the closed
        # socket tells of the parent's end, and leaves time to end what the child started.
        linux.die_with_parent(parent)
        answer = _import(ModuleSpec(**message["import"]))
        linux.outlive_parent()
        wire.send(control, answer)
    else:
        _run(control, message["run"], descriptors)


def _import(spec: ModuleSpec) -> dict[str, Any]:
    before = Snapshot()
    # A child that needs the module imports it itself and tells the error better.
    with contextlib.suppress(BaseException):
        load_module(spec)
    hugepages.collapse()
    return {"hazards": Snapshot().since(before)}


def _run(control: socket.socket, task: dict[str, Any], descriptors: list[int]) -> None:
    with _child_signal() as wakeup:
        others = linux.children_of(os.getpid())
        child = _fork(control, task, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        wire.send(control, {"started": child})
        try:
            _wait(control, child, wakeup)
        finally:
            # Before the leader is reaped, so that its group's number cannot be another's.
            linux.kill_group(child)
            _, status, usage = os.wait4(child, 0)
            _kill_orphans(others)
    wire.send(
        control,
        {"ended": child, "status": os.waitstatus_to_exitcode(status), "rss_kb": usage.ru_maxrss},
    )


def _fork(control: socket.socket, task: dict[str, Any], descriptors: list[int]) -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    server = os.getpid()
    # Objects that exist now are never visited by the child's collector, which would copy
    # every page that it marks.
    gc.freeze()
    child = os.fork()
    if child == 0:
        control.close()
        worker.main(task, descriptors, server)
    return child


@contextlib.contextmanager
def _child_signal() -> Iterator[socket.socket]:
    """A socket that becomes readable when a child ends."""
    reader, writer = socket.socketpair()
    with reader, writer:
        reader.setblocking(False)
        writer.setblocking(False)
        handler = signal.signal(signal.SIGCHLD, lambda *_: None)
        previous = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield reader
        finally:
            signal.set_wakeup_fd(previous)
            signal.signal(signal.SIGCHLD, handler)


def _wait(control: socket.socket, child: int, wakeup: socket.socket) -> None:
    """Return when the child has ended; it is not reaped.

    Raises:
        EOFError: The parent is gone; it says nothing else while a child runs.
    """
    flags = os.WEXITED | os.WNOWAIT | os.WNOHANG
    while os.waitid(os.P_PID, child, flags) is None:
        ready, _, _ = select.select([control, wakeup], [], [], _RECHECK_SECONDS)
        if control in ready:
            raise EOFError("the parent is gone")
        if wakeup in ready:
            wakeup.recv(64)


def _kill_orphans(others: set[int]) -> None:
    """End the descendants that left the child's process group, one generation at a time."""
    while orphans := linux.children_of(os.getpid()) - others:
        for orphan in orphans:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)
