"""Runs cases in children, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeAlias

from testing.results import CaseResult
from testing.settings import CaseRequest

__all__ = ["Execute", "run_all"]

Execute: TypeAlias = Callable[[CaseRequest], CaseResult]
_Done: TypeAlias = "tuple[CaseRequest, CaseResult] | BaseException"


def run_all(
    requests: Sequence[CaseRequest], workers: int, execute: Execute
) -> Iterator[tuple[CaseRequest, CaseResult]]:
    """The result of each request, as they come.

    Args:
        requests: What is run, in this order.
        workers: How many run at a time.
        execute: Runs one; it is called in threads of its own.
    """
    todo: SimpleQueue[CaseRequest] = SimpleQueue()
    done: SimpleQueue[_Done] = SimpleQueue()
    for request in requests:
        todo.put(request)
    for _ in range(min(workers, len(requests))):
        # A daemon: whoever is interrupted does not wait for it, and its server ends with us.
        Thread(target=_work, args=(execute, todo, done), daemon=True).start()
    for _ in requests:
        found = done.get()
        if isinstance(found, BaseException):
            raise found
        yield found


def _work(execute: Execute, todo: SimpleQueue[CaseRequest], done: SimpleQueue[_Done]) -> None:
    try:
        while True:
            request = todo.get_nowait()
            done.put((request, execute(request)))
    except Empty:
        return
    except BaseException as error:
        done.put(error)
