"""Constant folding: what derives from weights alone is computed before the program, in eager.

An op that has no lowering, or that reads the device, is known while tracing when its operands
derive from parameters, buffers and constants only. Its result enters the graph as data. What was
folded is remembered as a recipe, so that it can be computed for other weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from exporters.base import WeightsInlinedError
from exporters.neuron import lazy
from exporters.neuron.tape import Call, Evaluation, Result, UnknownValueError

__all__ = ["Folded", "Folds"]


@dataclass(frozen=True)
class Folded:
    """An argument of the program that is computed from the weights, by its name."""

    name: str


@dataclass(frozen=True, eq=False)
class _Recipe:
    """Where a folded tensor comes from, and what it is for the weights of the trace."""

    source: Result
    value: torch.Tensor


class Folds:
    """What one trace has folded."""

    def __init__(self) -> None:
        self._recipes: dict[Folded, _Recipe] = {}
        self._by_leaf: dict[int, Folded] = {}
        self._reads: list[tuple[Call, Any]] = []

    def enter(self, source: Result, value: torch.Tensor) -> torch.Tensor:
        """Put `value`, the tensor that `source` stands for, into the graph as data."""
        folded, data = Folded(f"fold {len(self._recipes)}"), lazy.to_device(value)
        self._recipes[folded] = _Recipe(source, value)
        self._by_leaf[lazy.tensor_id(data)] = folded
        return data

    def read(self, call: Call, result: Any) -> None:
        """Note that the model itself has seen `result`, which `call` makes of the weights."""
        self._reads.append((call, result))

    def leaf(self, tensor_id: int) -> Folded | None:
        """What the leaf of the graph with this id was folded from."""
        return self._by_leaf.get(tensor_id)

    def values(self) -> dict[str, torch.Tensor]:
        """The folded tensors for the weights of the trace, by the names of `Folded`."""
        return {folded.name: recipe.value for folded, recipe in self._recipes.items()}

    def require_same(self, weights: Mapping[str, torch.Tensor]) -> None:
        """See that these weights give what was folded, for a program that holds it as constants.

        Args:
            weights: Parameters and buffers by name, on the CPU.

        Raises:
            WeightsInlinedError: They give something else, or it is not known what they give.
        """
        found = self.values_for(weights)
        for folded, recipe in self._recipes.items():
            if not torch.equal(found[folded.name], recipe.value):
                raise WeightsInlinedError(
                    f"the program holds what {recipe.source.call.function} gives for the weights "
                    "of its trace, and these weights give another value; export it again with them"
                )

    def values_for(self, weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """The folded tensors for other weights.

        Args:
            weights: Parameters and buffers by name, on the CPU.

        Raises:
            WeightsInlinedError: The program itself depends on the weights of its trace: what the
                model read from them is another value for these, or another shape.
        """
        evaluation = Evaluation(weights)
        try:
            for call, before in self._reads:
                _require(_is_same(evaluation.result(call), before), call)
            return {
                folded.name: _value_for(recipe, evaluation)
                for folded, recipe in self._recipes.items()
            }
        except UnknownValueError as error:
            raise WeightsInlinedError(
                f"what was folded is not known for them: {error}; export again"
            ) from error


def _value_for(recipe: _Recipe, evaluation: Evaluation) -> torch.Tensor:
    value = evaluation.value(recipe.source)
    _require(value.shape == recipe.value.shape, recipe.source.call)
    return value


def _require(same: bool, call: Call) -> None:
    if not same:
        raise WeightsInlinedError(
            f"while tracing, the model took from its weights what {call.function} gives, and "
            "from these weights it takes another value; export it again with them"
        )


def _is_same(result: Any, before: Any) -> bool:
    pairs = zip(tree_leaves(result), tree_leaves(before), strict=True)
    return all(_is_equal(one, other) for one, other in pairs)


def _is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    return bool(one == other or (one != one and other != other))
