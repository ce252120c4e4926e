"""What makes it unsafe to fork this process: threads and runtimes that were started."""

from __future__ import annotations

import os
import sys
import threading

__all__ = ["Snapshot"]


class Snapshot:
    """The threads and runtimes of this process at one moment."""

    def __init__(self) -> None:
        self.threads = {thread.ident: thread for thread in threading.enumerate()}
        self.native = _native_threads()
        self.runtimes = _initialised_runtimes()

    def since(self, before: Snapshot) -> list[str]:
        """What was started after `before` was taken, one phrase each."""
        started = [
            _described(thread)
            for ident, thread in self.threads.items()
            if ident not in before.threads
        ]
        runtimes = [f"initialises {name}" for name in sorted(self.runtimes - before.runtimes)]
        native = self.native - before.native - len(started)
        if native > 0 and not runtimes:
            started.append(f"starts {native} native thread{'s' * (native > 1)}")
        return runtimes + started


def _native_threads() -> int:
    """Number of threads of this process, those without Python state included."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()


def _described(thread: threading.Thread) -> str:
    target = getattr(thread, "_target", None)
    code = getattr(target, "__code__", None)
    where = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
    return f"starts thread {thread.name!r}{where}"


def _initialised_runtimes() -> set[str]:
    """Device runtimes that live in this process; none is imported to find out."""
    found = set()
    xla = getattr(sys.modules.get("torch_xla"), "_XLAC", None)
    if xla is not None and xla._xla_runtime_is_initialized():
        found.add("the XLA runtime")
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_initialized():
        found.add("the CUDA runtime")
    return found
