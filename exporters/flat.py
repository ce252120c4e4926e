"""A model as a function of a flat tuple of tensors, which is all that ``torch.jit`` can carry.

What is no tensor (flags, ``None``, sizes) is fixed when the model is wrapped, and every tensor is
bound by the dotted name of its leaf, never by its position in the signature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from exporters.base import ExportError, UnsupportedOutputError
from exporters.snapshot import ModuleSnapshot
from exporters.tree import leaves, substitute, tensor_leaves

__all__ = ["Binding", "FlatForward", "InputMismatchError", "Layout", "Watch"]

Watch = Callable[[torch.nn.Module, Mapping[str, torch.Tensor]], AbstractContextManager[object]]
"""What surrounds each forward of a model, given the model and its inputs by name."""


class InputMismatchError(ExportError, ValueError):
    """Inputs of a run do not have the leaves that the trace has fixed."""


class Binding:
    """The order of the tensors among keyword inputs, and everything else fixed.

    Attributes:
        names: Dotted names of the distinct tensors, in the order of the flat tuple.
    """

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        # Argument by argument, so that one tensor passed twice is two inputs of the program.
        self._template = {name: _with_own_tensors(value) for name, value in inputs.items()}
        self._constants = _constants(self._template)
        groups = _groups(self._template)
        self._groups = tuple(groups.values())
        # Tensors, not their ids: a tracer may copy the module that holds this.
        found = tensor_leaves(self._template)
        self._places = [found[names[0]] for names in self._groups]
        self.names = tuple(names[0] for names in self._groups)

    def flatten(self, inputs: Mapping[str, Any]) -> tuple[torch.Tensor, ...]:
        """Copies of the tensors of `inputs`, whose keywords may come in any order.

        Raises:
            InputMismatchError: A tensor is missing or was not there in the trace, two that were
                one tensor in the trace differ, or what is no tensor has another value.
        """
        tensors = tensor_leaves(dict(inputs))
        _check_names([name for names in self._groups for name in names], tensors)
        _check_constants(self._constants, _constants(inputs))
        for names in self._groups:
            _check_shared(names, tensors)
        return tuple(tensors[name].clone() for name in self.names)

    def restore(self, tensors: Sequence[torch.Tensor]) -> dict[str, Any]:
        """Keyword inputs with `tensors` in their places and new containers around them."""
        restored: dict[str, Any] = _filled(self._template, self._places, tensors)
        return restored


class Layout:
    """The structure of an output, from which a flat tuple of tensors becomes that output again.

    Attributes:
        names: Dotted names of the distinct tensors, in the order of the flat tuple.
    """

    def __init__(self, output: Any) -> None:
        self._leaves = tuple(tensor_leaves(output))
        groups = _groups(output)
        self.names = tuple(names[0] for names in groups.values())
        if not self.names:
            raise UnsupportedOutputError("the model's output holds no tensor")
        # The tensors themselves are let go; only their places are needed.
        self._places = [torch.empty(0) for _ in groups]
        self._output = substitute(output, dict(zip(groups, self._places, strict=True)))

    def flatten(self, output: Any) -> tuple[torch.Tensor, ...]:
        """The tensors of an output of this structure, each one once.

        Raises:
            UnsupportedOutputError: The output has other tensor leaves.
        """
        tensors = tensor_leaves(output)
        if tuple(tensors) != self._leaves:
            raise UnsupportedOutputError(
                f"in the trace the model returns {', '.join(tensors) or 'no tensor'}, "
                f"in eager {', '.join(self._leaves)}"
            )
        return tuple(tensors[name] for name in self.names)

    def restore(self, tensors: Sequence[torch.Tensor]) -> Any:
        """The output with `tensors` in their places; what is no tensor is as it was.

        Raises:
            UnsupportedOutputError: The program gave another number of tensors than the model.
        """
        if len(tensors) != len(self.names):
            raise UnsupportedOutputError(
                f"the program gives {len(tensors)} tensors, the model {len(self.names)}: "
                f"{', '.join(self.names)}"
            )
        return _filled(self._output, self._places, tensors)


class FlatForward(torch.nn.Module):
    """`model` as a module of positional tensors that returns a tuple of tensors.

    Attributes:
        watch: Gives the context of every forward, from the model and its inputs by name.
        binding: The inputs' names and constants.
        layout: The output's structure, from one eager run: the tracer may copy this module, so
            that what a run leaves on it could be lost.
    """

    def __init__(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], watch: Watch | None = None
    ) -> None:
        super().__init__()
        self.model = model
        self.watch = watch or _unwatched
        self.training = model.training  # train() would set every module of the model
        self.binding = Binding(inputs)
        self.layout = Layout(self._run_apart(self.binding.flatten(inputs)))

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The tensors of the model's output, in the order of `Layout.names`."""
        with self.watch(self.model, dict(zip(self.binding.names, tensors, strict=True))):
            return self.layout.flatten(self.model(**self.binding.restore(tensors)))

    def _run_apart(self, tensors: Sequence[torch.Tensor]) -> Any:
        """What the model returns; what it keeps of the run, such as a cache, is gone again.

        The trace would find it on the CPU.
        """
        snapshot = ModuleSnapshot(self.model)
        try:
            return self.model(**self.binding.restore(tensors))
        finally:
            snapshot.restore()


def _unwatched(*_: object) -> AbstractContextManager[object]:
    return nullcontext()


def _with_own_tensors(value: Any) -> Any:
    copies = {id(leaf): leaf.clone() for leaf in tensor_leaves(value).values()}
    return substitute(value, copies)


def _filled(template: Any, places: Sequence[torch.Tensor], tensors: Sequence[torch.Tensor]) -> Any:
    pairs = zip(places, tensors, strict=True)
    return substitute(template, {id(place): tensor for place, tensor in pairs})


def _groups(value: Any) -> dict[int, tuple[str, ...]]:
    """Names of each distinct tensor, by the tensor's id, in the order of the first names."""
    groups: dict[int, tuple[str, ...]] = {}
    for name, leaf in tensor_leaves(value).items():
        groups[id(leaf)] = (*groups.get(id(leaf), ()), name)
    return groups


def _constants(inputs: Mapping[str, Any]) -> dict[str, str]:
    """What is neither a tensor nor a hole; an absent argument and ``None`` are the same."""
    found = leaves(dict(inputs)).items()
    fixed = {name: leaf for name, leaf in found if not isinstance(leaf, torch.Tensor)}
    return {name: repr(leaf) for name, leaf in fixed.items() if leaf is not None}


def _check_names(expected: Sequence[str], found: Mapping[str, Any]) -> None:
    missing = [name for name in expected if name not in found]
    extra = [name for name in found if name not in expected]
    if missing or extra:
        parts = [f"missing: {', '.join(missing)}"] if missing else []
        parts += [f"not in the trace: {', '.join(extra)}"] if extra else []
        raise InputMismatchError(f"the inputs are not those of the trace; {'; '.join(parts)}")


def _check_constants(expected: Mapping[str, str], found: Mapping[str, str]) -> None:
    for name in {**expected, **found}:
        traced, given = expected.get(name, "None"), found.get(name, "None")
        if traced != given:
            raise InputMismatchError(f"{name} is {given}, and the trace has fixed it as {traced}")


def _check_shared(names: Sequence[str], tensors: Mapping[str, torch.Tensor]) -> None:
    for name in names[1:]:
        if not torch.equal(tensors[names[0]], tensors[name]):
            raise InputMismatchError(f"{names[0]} and {name} were one tensor in the trace")
