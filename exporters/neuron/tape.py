"""What a trace computed, op by op, so that any of its values can be computed again in eager.

A tape holds references only and computes nothing by itself. It is what folding and baked reads
take values from: the ops that led to a value are run again on the CPU, by PyTorch's own kernels,
on the model's real weights and on the inputs of the trace, and give exactly what eager gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_unflatten

from exporters.neuron import lazy

__all__ = [
    "Call",
    "Evaluation",
    "OneDraw",
    "Result",
    "Tape",
    "UnknownValueError",
    "Value",
    "run_on_host",
]


class UnknownValueError(Exception):
    """A value of the trace that cannot be computed outside of it, such as a random number."""


@dataclass(frozen=True)
class _Weight:
    """A parameter or buffer, by its name."""

    name: str


@dataclass(frozen=True, eq=False)
class _Data:
    """What has a value on the device: an input, or a constant of the graph."""

    tensor: torch.Tensor


@dataclass(frozen=True, eq=False)
class Call:
    """One op with its arguments, flat, a `Value` in the place of each tensor on the device."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    structure: TreeSpec

    @property
    def operands(self) -> Iterable[Call]:
        """The calls whose results are arguments of this one."""
        return (value.call for value in self.arguments if isinstance(value, Result))


@dataclass(frozen=True, eq=False)
class Result:
    """The tensor at `index` among those that a call returned."""

    call: Call
    index: int


Value: TypeAlias = "_Weight | _Data | Result"


class Tape:
    """The values of one trace, by the ids of the lazy tensors that stand for them.

    Args:
        placeholders: What stands for the model's weights, by their names.
    """

    def __init__(self, placeholders: Mapping[str, torch.Tensor]) -> None:
        self._values: dict[int, Value] = {}
        for name, tensor in placeholders.items():
            self._values.setdefault(lazy.tensor_id(tensor), _Weight(name))

    def call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Call:
        """An op that is about to run, with what its arguments are at this moment."""
        leaves, structure = tree_flatten((args, kwargs))
        return Call(function, tuple(self._argument(leaf) for leaf in leaves), structure)

    def record(self, call: Call, result: Any) -> None:
        """Note that the lazy tensors of `result` are what `call` gives.

        What other ops of torch_xla's own give, which PyTorch lacks, is known by its program.
        """
        if getattr(call.function, "namespace", "") == "xla" and call.function not in _ON_HOST:
            return
        for index, tensor in enumerate(_tensors(result)):
            if tensor.device.type == "xla":
                self._values[lazy.tensor_id(tensor)] = Result(call, index)

    def value(self, tensor: torch.Tensor) -> Value:
        """What a lazy tensor stands for, also when no op on the tape has made it."""
        tensor_id = lazy.tensor_id(tensor)
        if tensor_id not in self._values:
            self._values[tensor_id] = self._unrecorded(tensor, tensor_id)
        return self._values[tensor_id]

    def _argument(self, leaf: Any) -> Any:
        if isinstance(leaf, torch.device) and leaf.type == "xla":
            return torch.device("cpu")
        if not isinstance(leaf, torch.Tensor):
            return leaf
        # The model may write into its own tensors later.
        return self.value(leaf) if leaf.device.type == "xla" else leaf.detach().clone()

    def _unrecorded(self, tensor: torch.Tensor, tensor_id: int) -> Value:
        leaves = lazy.graph_leaves([tensor])
        if [leaf_id for leaf_id, _ in leaves] == [tensor_id]:
            return _Data(leaves[0][1])
        sources = [self._values.get(leaf_id) or _Data(leaf) for leaf_id, leaf in leaves]
        arguments, structure = tree_flatten((tuple(sources), {}))
        return Result(Call(partial(_run_program, tensor), tuple(arguments), structure), 0)


class Evaluation:
    """The values of a tape for one set of weights; what was computed is kept.

    Args:
        weights: The parameters and buffers by name, on the CPU.
    """

    def __init__(self, weights: Mapping[str, torch.Tensor]) -> None:
        self._weights = weights
        self._results: dict[Call, Any] = {}

    def value(self, value: Value) -> torch.Tensor:
        """The tensor that `value` is, on the CPU; it must not be written to.

        Raises:
            UnknownValueError: It cannot be computed.
        """
        if isinstance(value, _Weight):
            if value.name not in self._weights:
                raise UnknownValueError(f"there is no weight {value.name}")
            return self._weights[value.name]
        if isinstance(value, _Data):
            return lazy.read(value.tensor)
        return _tensors(self.result(value.call))[value.index]

    def result(self, call: Call) -> Any:
        """What the op of `call` returns, as its tensors are on the CPU.

        Not by recursion, since the calls before it are thousands deep.

        Raises:
            UnknownValueError: It cannot be computed.
        """
        waiting = [call]
        while waiting:
            missing = [one for one in waiting[-1].operands if one not in self._results]
            if missing:
                waiting.extend(missing)
            else:
                self._run(waiting.pop())
        return self._results[call]

    def _arguments(self, call: Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = tree_unflatten(
            [self._given(leaf) for leaf in call.arguments], call.structure
        )
        return args, kwargs

    def _given(self, leaf: Any) -> Any:
        if isinstance(leaf, (_Weight, _Data, Result)):
            return self.value(leaf)
        # The op may write into it, and may be run again for other weights.
        return leaf.clone() if isinstance(leaf, torch.Tensor) else leaf

    def _require_known(self, call: Call) -> None:
        """See that the op of `call` gives the same each time.

        Raises:
            UnknownValueError: It draws random numbers.
        """
        if torch.Tag.nondeterministic_seeded in getattr(call.function, "tags", ()):
            raise UnknownValueError(f"{call.function} draws random numbers")

    def _run(self, call: Call) -> None:
        if call in self._results:
            return
        self._require_known(call)
        args, kwargs = self._arguments(call)
        self._results[call] = run_on_host(call.function, args, kwargs)


class OneDraw(Evaluation):
    """The same, with one draw of what is random: for who needs some value, not that of a run."""

    def _require_known(self, call: Call) -> None:
        """Every op has a value."""


# What torch_xla runs in the place of functions of PyTorch's, which have kernels on the CPU.
_ON_HOST: Final[Mapping[Any, Callable[..., Any]]] = {
    torch.ops.xla.max_pool2d_forward.default: torch.max_pool2d
}


def run_on_host(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run an op in eager, beside the trace.

    Raises:
        UnknownValueError: PyTorch cannot run it on the CPU.
    """
    try:
        with _disable_current_modes(), torch.no_grad():
            return _ON_HOST.get(function, function)(*args, **kwargs)
    except (RuntimeError, TypeError, IndexError, ValueError) as error:
        raise UnknownValueError(f"{function} cannot be run on the CPU: {error}") from error


def _run_program(tensor: torch.Tensor, *arguments: torch.Tensor) -> torch.Tensor:
    """Compute a lazy tensor from the values of the leaves of its graph."""
    on_device = [lazy.to_device(argument) for argument in arguments]
    (result,) = lazy.run_stablehlo(lazy.stablehlo([tensor]), on_device)
    return lazy.read(result)


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
