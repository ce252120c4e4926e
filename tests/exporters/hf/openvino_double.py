"""A double of OpenVINO's infer request that has states and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import openvino

__all__ = ["Request"]


class _State:
    """A state that, like OpenVINO's, takes tensors of its own type alone."""

    def __init__(self, name: str, dtype: str) -> None:
        self.name = name
        self._tensor = openvino.Tensor(np.zeros(1, dtype))

    def reset(self) -> None:
        self._tensor = openvino.Tensor(np.zeros_like(self._tensor.data))

    @property
    def state(self) -> Any:
        return self._tensor

    @state.setter
    def state(self, tensor: Any) -> None:
        assert tensor.element_type == self._tensor.element_type
        self._tensor = tensor


class Request:
    """An infer request with states of these types, by the names of their variables."""

    def __init__(self, states: Mapping[str, str]) -> None:
        self._states = [_State(name, dtype) for name, dtype in states.items()]

    def query_state(self) -> list[_State]:
        """Its states."""
        return self._states
