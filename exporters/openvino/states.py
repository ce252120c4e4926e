"""The states of an OpenVINO program: caches that were folded into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import openvino
import torch

from exporters.base import UnsupportedOutputError
from exporters.flat import InputMismatchError

__all__ = ["States"]


class States:
    """The variables of one infer request.

    Attributes:
        names: transformers' names of the cache's tensors, such as ``cache.layers.0.keys``.
    """

    def __init__(self, request: Any) -> None:
        self._states = {_leaf_of(state.name): state for state in request.query_state()}
        self.names = frozenset(self._states)

    def seed(self, leaves: Mapping[str, torch.Tensor]) -> None:
        """Write the cache of a run's inputs into the states, whatever the run before left there.

        Raises:
            InputMismatchError: The inputs have no tensor for a state.
        """
        for name, state in self._states.items():
            if name not in leaves:
                raise InputMismatchError(f"missing: {name}, which is a state of the program")
            state.reset()
            state.state = openvino.Tensor(_as_stored(leaves[name], state))

    def read(self, dtypes: Mapping[str, torch.dtype]) -> dict[str, torch.Tensor]:
        """The states after a run, in the dtypes that the same tensors have as inputs."""
        return {
            name: torch.from_numpy(state.state.data.copy()).to(dtypes[name])
            for name, state in self._states.items()
        }


def _leaf_of(variable: str) -> str:
    """The tensor that a variable holds: transformers calls it ``input.<name>output.<name>``."""
    name = variable[len("input.") : (len(variable) - len("output.") + len("input.")) // 2]
    if variable != f"input.{name}output.{name}":
        raise UnsupportedOutputError(f"{variable} is not a state of a cache")
    return name


def _as_stored(leaf: torch.Tensor, state: Any) -> Any:
    """An array of the variable's type; it keeps 64-bit integers in 32 bits."""
    stored = state.state.data.dtype
    return leaf.detach().cpu().numpy().astype(stored)
