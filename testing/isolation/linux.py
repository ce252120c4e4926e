"""Linux calls that tie processes together and end them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

__all__ = [
    "adopt_orphans",
    "children_of",
    "die_with_parent",
    "kill_group",
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
