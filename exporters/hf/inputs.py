"""Inputs of a program that one of transformers' exporters has made, for each run anew."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exporters.base import BakedRead
from exporters.flat import Binding, InputMismatchError
from exporters.hf.toolkit import prepare
from exporters.tree import tensor_leaves

if TYPE_CHECKING:
    import torch

__all__ = ["HfInputs"]


class HfInputs:
    """The inputs of the trace, and from them those of any run.

    transformers adds inputs that it computes from the given ones. They are computed for every
    run: those of the trace would be right for the trace alone.

    Attributes:
        prepared: The inputs of the trace with what transformers adds; not to be changed.
    """

    def __init__(self, model: torch.nn.Module, inputs: Mapping[str, Any]) -> None:
        self._model = model
        self._given = copy.deepcopy(dict(inputs))
        self.prepared, self._flags = prepare(model, copy.deepcopy(self._given))
        self._binding = Binding(self.prepared)
        self._fixed = {
            name: value
            for name, value in self.prepared.items()
            if _is_constant(value) and not _is_constant(self._given.get(name))
        }

    @property
    def baked_reads(self) -> tuple[BakedRead, ...]:
        """What transformers reads from the inputs and the program holds as a constant."""
        return tuple(BakedRead("prepare_for_export", (name,), None) for name in self._fixed)

    def for_trace(self) -> dict[str, Any]:
        """The given inputs of the trace, in copies."""
        return copy.deepcopy(self._given)

    def for_run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword inputs of a run, in copies and in the order of the trace.

        Raises:
            InputMismatchError: One is missing, was not in the trace, or is a flag with another
                value than in the trace.
        """
        prepared, flags = prepare(self._model, copy.deepcopy(dict(inputs)))
        self._check_flags(flags)
        tensors = self._binding.flatten({**prepared, **self._fixed})
        return self._binding.restore(tensors)

    def _check_flags(self, flags: Mapping[str, Any]) -> None:
        for name in {**self._flags, **flags}:
            traced, given = self._flags.get(name), flags.get(name)
            if traced != given:
                raise InputMismatchError(
                    f"{name} is {given!r}, and the trace has fixed it as {traced!r}"
                )


def _is_constant(value: Any) -> bool:
    """Whether `value` is there and holds no tensor."""
    return value is not None and not tensor_leaves(value)
