"""How an op that XLA cannot do is done all the same: folded, lowered, or read once and for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Final

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from exporters.base import Selection
from exporters.neuron import lazy
from exporters.neuron.folding import Folds
from exporters.neuron.lowerings import LOWERINGS
from exporters.neuron.lowerings.base import FOLD, MASKS, READ, Lowering, evaluating
from exporters.neuron.ops import (
    functionalization,
    has_read_result,
    is_to_host,
    name_of,
    written_operands,
    xla_tensors,
)
from exporters.neuron.origins import Origin
from exporters.neuron.reads import ReadLog
from exporters.neuron.tape import Call, Evaluation, Result, Tape, UnknownValueError, run_on_host

__all__ = ["UNANSWERED", "Lowerer", "Op"]

_MASK: Final = "mask"
UNANSWERED: Final = object()
"""What `Lowerer.answer` returns for an op that it has nothing for."""


class Lowerer:
    """Answers the ops of one trace that would read the device.

    Args:
        selection: The lowerings that may be applied, ``fold`` and ``read`` among them.
        reads: Gets the values that are read from inputs.
        placeholders: What stands for the model's weights, by their names.
        weights: The weights themselves, on the CPU.
        folds: Gets what is folded.

    Attributes:
        applied: Names of what was applied, in order: ``fold:im2col``, ``grid_sampler_2d``.
        dispatching: Context in which the ops of a lowering are answered too, set by the guard.
    """

    def __init__(
        self,
        selection: Selection,
        reads: ReadLog,
        placeholders: Mapping[str, torch.Tensor],
        weights: Mapping[str, torch.Tensor],
        folds: Folds,
    ) -> None:
        self.applied: dict[str, None] = {}
        self._folds = folds
        self._selection = selection
        self._reads = reads
        self._tape = Tape(placeholders)
        self._evaluation = Evaluation(weights)
        self.dispatching: AbstractContextManager[Any] = nullcontext()
        self._running: list[str] = []

    def call(self, func: Any, args: Any, kwargs: Any) -> Call:
        """An op that is about to run."""
        return self._tape.call(func, args, kwargs)

    def record(self, call: Call, result: Any) -> None:
        """Note what an op gave, whatever way it was run."""
        self._tape.record(call, result)

    def lowering(self, func: Any, args: Any, kwargs: Any) -> Lowering | None:
        """The lowering of an op for these arguments, unless it is running already."""
        found = LOWERINGS.get(name_of(func))
        if found is None or found.name not in self._selection or found.name in self._running:
            return None
        return found if found.covers(*args, **kwargs) else None

    def has_any(self, ops: Sequence[str]) -> bool:
        """Whether one of these ops has a lowering that may be applied."""
        return any(op in LOWERINGS and LOWERINGS[op].name in self._selection for op in ops)

    def lower(self, lowering: Lowering, args: Any, kwargs: Any) -> Any:
        """Run a lowering in the place of its op.

        Its ops are functionalized as the model's own are, so that it may write into its views.

        Returns:
            What the op returns; `UNANSWERED` where the lowering asks for what cannot be known.
        """
        self._running.append(lowering.name)
        args, kwargs = tree_map_only(torch.Tensor, _to_functional, (args, kwargs))
        evaluator = partial(self._evaluate, op=lowering.op)
        try:
            with functionalization(), self.dispatching, evaluating(evaluator):
                result = lowering.function(*args, **kwargs)
        except UnknownValueError:
            return UNANSWERED
        finally:
            self._running.pop()
        self.applied.setdefault(lowering.name)
        return tree_map_only(torch.Tensor, _from_functional, result)

    def answer(self, func: Any, args: Any, kwargs: Any, reads_itself: bool = True) -> Any:
        """The result of an op that reads its operands, had otherwise.

        Args:
            func: The op.
            args: Its arguments.
            kwargs: Its keyword arguments.
            reads_itself: Whether it reads, and not only an op that it calls.

        Returns:
            What the op returns; `UNANSWERED` where there is nothing for it.
        """
        origins = self._reads.origins_of(xla_tensors((args, kwargs)))
        if not origins or xla_tensors(written_operands(func, args, kwargs)):
            return UNANSWERED
        attempts = (self._fold, self._lower_op, *([self._bake] if reads_itself else []))
        for attempt in attempts:
            result = attempt(Op(func, args, kwargs, origins))
            if result is not UNANSWERED:
                return result
        return UNANSWERED

    def _fold(self, op: Op) -> Any:
        """Run an op on weights alone now, by PyTorch's own kernel."""
        if FOLD not in self._selection or not all(o.is_placeholder for o in op.origins):
            return UNANSWERED
        call, result = self._on_host(op)
        if result is UNANSWERED:
            return UNANSWERED
        self.applied.setdefault(f"{FOLD}:{name_of(op.func).removeprefix('aten::')}")
        if not op.gives_lazily(result):
            self._folds.read(call, result)
            return self._given(op, result)
        places = count()
        return self._entered(
            op, result, lambda value: self._folds.enter(Result(call, next(places)), value)
        )

    def _lower_op(self, op: Op) -> Any:
        lowering = self.lowering(op.func, op.args, op.kwargs)
        return UNANSWERED if lowering is None else self.lower(lowering, op.args, op.kwargs)

    def _bake(self, op: Op) -> Any:
        """Read a value for the inputs of the trace; what it is read from stays in the graph."""
        if READ not in self._selection or not has_read_result(op.func, op.args, op.kwargs):
            return UNANSWERED
        _, result = self._on_host(op)
        if result is UNANSWERED:
            return UNANSWERED
        self._reads.note(name_of(op.func), op.origins)
        if result is True and MASKS in self._selection and self.is_of_whole_mask(op):
            self.applied.setdefault(MASKS)
            return False
        if not op.gives_lazily(result):
            return self._given(op, result)
        return self._entered(op, result, lazy.to_device)

    def is_of_whole_mask(self, op: Op) -> bool:
        """Whether the model asks if some inputs' masks mask nothing out.

        If they do not, models take a short cut. The way that they take otherwise is right for
        these masks and for all others, so the graph is made of that one.
        """
        operands = xla_tensors((op.args, op.kwargs))
        if len(operands) != 1:
            return False  # ``torch.equal`` asks about two
        value = self._tape.value(operands[0])
        is_all = isinstance(value, Result) and value.call.function is torch.ops.aten.all.default
        return is_all and all(_MASK in origin.name for origin in op.origins)

    def _on_host(self, op: Op) -> tuple[Call, Any]:
        return self._computed(op, self._evaluation)

    def _computed(self, op: Op, evaluation: Evaluation) -> tuple[Call, Any]:
        call = self._tape.call(op.func, op.args, op.kwargs)
        try:
            return call, evaluation.result(call)
        except UnknownValueError:
            return call, UNANSWERED

    def _given(self, op: Op, result: Any) -> Any:
        """A result on the CPU as the model gets it, which may write into it."""
        if op.func._schema.is_mutable:
            args, kwargs = tree_map_only(torch.Tensor, self._value, (op.args, op.kwargs))
            return run_on_host(op.func, args, kwargs)
        return tree_map_only(torch.Tensor, torch.clone, result)

    def _entered(self, op: Op, result: Any, enter: Callable[[torch.Tensor], torch.Tensor]) -> Any:
        entered = tree_map_only(torch.Tensor, enter, result)
        for tensor in xla_tensors(entered):
            self._reads.origins.derive(tensor, op.origins)
        return entered

    def _evaluate(self, tensor: torch.Tensor, op: str) -> torch.Tensor:
        """What a lowering asks for, recorded as read by its op."""
        if tensor.device.type != "xla":
            return tensor
        lazily = _from_functional(tensor)
        origins = self._reads.origins_of([lazily])
        value = self._value(lazily)
        if origins and all(origin.is_placeholder for origin in origins):
            self._folds.read(*self._on_host(Op(torch.ops.aten.clone.default, (lazily,), {}, ())))
        self._reads.note(op, origins)
        return value.clone()

    def _value(self, tensor: torch.Tensor) -> torch.Tensor:
        """The value of a lazy tensor; others are what they are."""
        if tensor.device.type != "xla":
            return tensor
        return self._evaluation.value(self._tape.value(tensor))


@dataclass(frozen=True)
class Op:
    """An op that is about to run, and what its operands derive from."""

    func: Any
    args: Any
    kwargs: Any
    origins: tuple[Origin, ...]

    def gives_lazily(self, result: Any) -> bool:
        """Whether `result`, had on the CPU, is on the device for the model."""
        if is_to_host(self.kwargs) or written_operands(self.func, self.args, self.kwargs):
            return False
        return any(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(result))


def _to_functional(tensor: torch.Tensor) -> torch.Tensor:
    wrap: Callable[[torch.Tensor], torch.Tensor] = vars(torch)["_to_functional_tensor"]
    return wrap(tensor) if tensor.device.type == "xla" else tensor


def _from_functional(tensor: torch.Tensor) -> torch.Tensor:
    functions = vars(torch)
    if not functions["_is_functional_tensor"](tensor):
        return tensor
    functions["_sync"](tensor)
    unwrapped: torch.Tensor = functions["_from_functional_tensor"](tensor)
    return unwrapped
