"""Examines tiny models, each in a child of its own: a class may raise, hang or die."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Final, Protocol, TypeAlias

from testing.coverage.verdict import Verdict, verdict_of
from testing.isolation import ChildReport, ForkServer, Task
from testing.parallel import run_all

__all__ = ["TIMEOUT", "Runner", "examine_all"]

TIMEOUT: Final = 90.0
"""Seconds that a class may take."""
_TARGET: Final = "testing.tiny.examination:main"
# Besides the target, what transformers and torch import late, at the first model.
_PRELOAD: Final = (
    "torch",
    "transformers",
    "transformers.testing_utils",
    "torch.fx.experimental.symbolic_shapes",
    "testing.execution.warm",
    "testing.tiny.examination",
)


class Runner(Protocol):
    """What runs a task in a child, as `ForkServer` does."""

    def run(self, task: Task) -> ChildReport:
        """Run it and say how it ended."""


Runners: TypeAlias = Callable[[], AbstractContextManager[Runner]]


def _server() -> ForkServer:
    return ForkServer(_PRELOAD, {"OMP_NUM_THREADS": "1"})


def examine_all(
    names: Sequence[str], workers: int, runners: Runners = _server
) -> Iterator[Verdict]:
    """The verdict on each class, as they come.

    Args:
        names: Names of the classes.
        workers: How many are examined at a time.
        runners: Makes what runs tasks, one for each worker.
    """
    for _, verdict in run_all(names, workers, partial(_examiner, runners)):
        yield verdict


@contextmanager
def _examiner(runners: Runners) -> Iterator[Callable[[str], Verdict]]:
    with runners() as runner:
        yield lambda name: verdict_of(name, runner.run(Task(_TARGET, name, timeout=TIMEOUT)))
