"""What a lowering is: another way to compute an op, made of ops that XLA has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import torch

__all__ = ["FOLD", "MASKS", "READ", "Lowering", "evaluate", "evaluating"]

FOLD: Final = "fold"
"""The word for ``--lowerings`` that allows constant folding."""
READ: Final = "read"
"""The word that allows a value of weights and inputs to be read for the trace's inputs."""

MASKS: Final = "masks"
"""The word that has ``if mask.all()`` go the way that is right for every mask."""


def _always(*args: Any, **kwargs: Any) -> bool:
    return True


@dataclass(frozen=True)
class Lowering:
    """An op of PyTorch in terms of ops that torch_xla lowers.

    Attributes:
        op: The op, with its overload where that is not the default one: ``aten::im2col``,
            ``aten::scatter_reduce.two``.
        function: Takes the op's own arguments and returns what the op returns, in the same shapes
            and dtypes. Plain PyTorch, so that it can be used and tested outside of a trace, on
            any device; it imports torch itself. It must not change its arguments.
        summary: What takes the place of the op, in one sentence.
        source: Where the definition is from: a paper, a page of documentation, a torch function.
        covers: Whether the lowering is right for these arguments. Where it is not, the op is
            treated as if there were no lowering. It may look at shapes, dtypes and flags, and must
            not read values.
        replaces: Whether it also takes the place of a kernel that torch_xla has and that is
            wrong or fails; otherwise it is used where the op would read the device.
    """

    op: str
    function: Callable[..., Any]
    summary: str
    source: str
    covers: Callable[..., bool] = _always
    replaces: bool = False

    @property
    def name(self) -> str:
        """The word for ``--lowerings``: ``grid_sampler_2d``, ``scatter_reduce.two``."""
        return self.op.partition("::")[2]


Evaluator = Callable[["torch.Tensor"], "torch.Tensor"]
_EVALUATOR: ContextVar[Evaluator | None] = ContextVar("evaluator", default=None)


def evaluate(tensor: torch.Tensor) -> torch.Tensor:
    """The value of `tensor` on the CPU; for what a lowering must know, such as a size.

    While tracing it is the value for the trace's own inputs and the model's real weights, and
    it is recorded as a baked read with the op and the model's line: ask for as little as will do
    (a count, not the positions). Outside of a trace it simply is ``tensor.cpu()``.
    """
    evaluator = _EVALUATOR.get()
    return tensor.cpu() if evaluator is None else evaluator(tensor)


@contextmanager
def evaluating(evaluator: Evaluator) -> Iterator[None]:
    """Answer `evaluate` with `evaluator`, as the trace does around a lowering."""
    token = _EVALUATOR.set(evaluator)
    try:
        yield
    finally:
        _EVALUATOR.reset(token)
