"""What a part of a model receives when the whole model runs on its own inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

import torch

from exporters.tree import substitute, tensor_leaves
from testing.inputs.derived import DerivedInputs
from testing.seeds import set_seed
from testing.subject import Inputs

__all__ = ["CapturedInputs"]

_THE_SAME: Final = "the whole model gives it the same in every set"


class CapturedInputs(DerivedInputs):
    """The inputs of one part, set for set what the whole model hands to it.

    `Inputs` says what the attributes and methods are. Sets of the whole model that it cannot run
    raise here what it raises.
    """

    def __init__(
        self, inputs: Inputs, capture: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> None:
        """Take the whole model's inputs.

        Args:
            inputs: Inputs of the whole model.
            capture: Runs the whole model on keyword inputs, and returns those of the part. It
                runs under the seed of every eager run.
        """
        super().__init__(inputs)
        self._capture = capture
        self.axes: Mapping[str, int] = dict(inputs.axes)

    @cached_property
    def unchanged(self) -> Mapping[str, str]:
        """Leaves that every fresh set has as the traced one has them."""
        same = tensor_leaves(self.traced())
        for family in self.families:
            fresh = tensor_leaves(self.fresh(family))
            same = {path: leaf for path, leaf in same.items() if _equal(leaf, fresh.get(path))}
        return dict.fromkeys(same, _THE_SAME)

    def _derived(self, inputs: dict[str, Any]) -> dict[str, Any]:
        set_seed()
        received = self._capture(inputs)
        # A view of something larger would have other strides here than in the copy that is run.
        own = {id(leaf): leaf.detach().clone() for leaf in tensor_leaves(received).values()}
        return dict(substitute(received, own))


def _equal(leaf: torch.Tensor, other: torch.Tensor | None) -> bool:
    return other is not None and torch.equal(leaf, other)
