"""Runs what is to be run, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeAlias, TypeVar

from testing.results import CaseResult
from testing.settings import CaseRequest

__all__ = ["Execute", "run_all"]

Execute: TypeAlias = Callable[[CaseRequest], CaseResult]
_T = TypeVar("_T")
_R = TypeVar("_R")


def run_all(todo: Sequence[_T], workers: int, run: Callable[[_T], _R]) -> Iterator[tuple[_T, _R]]:
    """What comes of each, as it comes.

    Args:
        todo: What is run, in this order.
        workers: How many run at a time.
        run: Runs one; it is called in threads of its own.
    """
    waiting: SimpleQueue[_T] = SimpleQueue()
    done: SimpleQueue[tuple[_T, _R] | BaseException] = SimpleQueue()
    for one in todo:
        waiting.put(one)
    for _ in range(min(workers, len(todo))):
        # A daemon: whoever is interrupted does not wait for it, and its server ends with us.
        Thread(target=_work, args=(run, waiting, done), daemon=True).start()
    for _ in todo:
        found = done.get()
        if isinstance(found, BaseException):
            raise found
        yield found


def _work(
    run: Callable[[_T], _R],
    waiting: SimpleQueue[_T],
    done: SimpleQueue[tuple[_T, _R] | BaseException],
) -> None:
    try:
        while True:
            one = waiting.get_nowait()
            done.put((one, run(one)))
    except Empty:
        return
    except BaseException as error:
        done.put(error)
