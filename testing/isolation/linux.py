"""Linux calls that tie processes together and end them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

__all__ = [
    "adopt_orphans",
    "be_killed_first",
    "children_of",
    "descendants_of",
    "die_with_parent",
    "kill_group",
    "kill_marked",
    "outlive_parent",
    "page_out",
]

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_MADV_PAGEOUT = 21


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when process `parent`, which started it, ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # It may have ended before the call, which then does nothing.
    if os.getppid() != parent:
        os._exit(1)


def outlive_parent() -> None:
    """Undo `die_with_parent`."""
    _prctl(_PR_SET_PDEATHSIG, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, so that none escapes."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def be_killed_first() -> None:
    """Have the kernel take this process, and none that waits for it, when memory runs out."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def kill_group(leader: int) -> None:
    """Kill the process group that `leader` leads, or `leader` alone before it leads one."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(leader, signal.SIGKILL)


def children_of(pid: int) -> set[int]:
    """Ids of the children of a process, where the kernel tells them."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as listing:
                found.update(map(int, listing.read().split()))
    return found


def descendants_of(pid: int) -> list[int]:
    """Ids of the children of a process, of theirs, and so on."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = children_of(waiting.pop())
        found += children
        waiting += children
    return found


def kill_marked(variable: str, value: str) -> None:
    """Kill every process that was started with an environment variable of this value."""
    mark = f"{variable}={value}".encode()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/environ", "rb") as environment:
                is_marked = mark in environment.read().split(b"\0")
            if is_marked and int(name) != os.getpid():
                os.kill(int(name), signal.SIGKILL)


def page_out(address: int, size: int) -> None:
    """Tell the kernel that memory is not needed soon: pages of a file are dropped at once.

    Their contents stay: whoever reads them has them read again.
    """
    if sys.platform == "linux":
        page = os.sysconf("SC_PAGE_SIZE")
        first = -(-address // page) * page
        length = (address + size) // page * page - first
        if length > 0:
            pointer, count = ctypes.c_void_p(first), ctypes.c_size_t(length)
            ctypes.CDLL(None).madvise(pointer, count, _MADV_PAGEOUT)
