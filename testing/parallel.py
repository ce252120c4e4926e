"""Runs many things, some at a time, each worker with what it needs for all that it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

__all__ = ["run_all"]

_T = TypeVar("_T")
_R = TypeVar("_R")


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
    for _ in range(min(workers, len(todo))):
        # A daemon: whoever is interrupted does not wait for it, and its server ends with us.
        Thread(target=_work, args=(runners, waiting, done), daemon=True).start()
    for _ in todo:
        found = done.get()
        if isinstance(found, BaseException):
            raise found
        yield found


def _work(
    runners: Callable[[], AbstractContextManager[Callable[[_T], _R]]],
    waiting: SimpleQueue[_T],
    done: SimpleQueue[tuple[_T, _R] | BaseException],
) -> None:
    try:
        with runners() as run:
            while True:
                one = waiting.get_nowait()
                done.put((one, run(one)))
    except Empty:
        return
    except BaseException as error:
        done.put(error)
