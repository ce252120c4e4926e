"""Runs many things, some at a time, each worker with what it needs for all that it runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final, TypeVar

__all__ = ["Worker", "cpus", "run_all", "worker"]

_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(frozen=True)
class Worker:
    """Who of all that run at one time on this machine.

    Attributes:
        index: From 0.
        count: How many there are.
    """

    index: int = 0
    count: int = 1

    @property
    def threads(self) -> int:
        """Threads that it may use, so that all of them together use each core once."""
        given = os.environ.get("OMP_NUM_THREADS", "")
        return int(given) if given.isdigit() and int(given) else max(1, cpus() // self.count)


_ALONE: Final = Worker()

worker: ContextVar[Worker] = ContextVar("worker", default=_ALONE)
"""The worker that this thread is; one process may have several."""


def cpus() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def run_all(
    todo: Sequence[_T],
    workers: int,
    runners: Callable[[], AbstractContextManager[Callable[[_T], _R]]],
) -> Iterator[tuple[_T, _R]]:
    """What comes of each, as it comes.

    Args:
        todo: What is run, in this order.
        workers: How many run at a time, each in a thread of its own.
        runners: Makes what runs one, for each worker; it ends when there is nothing left.
    """
    waiting: SimpleQueue[_T] = SimpleQueue()
    done: SimpleQueue[tuple[_T, _R] | BaseException] = SimpleQueue()
    for one in todo:
        waiting.put(one)
    count = min(workers, len(todo))
    for index in range(count):
        # A daemon: whoever is interrupted does not wait for it, and its server ends with us.
        arguments = (Worker(index, count), runners, waiting, done)
        Thread(target=_work, args=arguments, daemon=True).start()
    for _ in todo:
        found = done.get()
        if isinstance(found, BaseException):
            raise found
        yield found


def _work(
    me: Worker,
    runners: Callable[[], AbstractContextManager[Callable[[_T], _R]]],
    waiting: SimpleQueue[_T],
    done: SimpleQueue[tuple[_T, _R] | BaseException],
) -> None:
    worker.set(me)
    try:
        with runners() as run:
            while True:
                one = waiting.get_nowait()
                done.put((one, run(one)))
    except Empty:
        return
    except BaseException as error:
        done.put(error)
