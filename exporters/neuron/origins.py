"""Where a lazy tensor comes from: the parameters, buffers and inputs that its graph starts at.

No bookkeeping runs along with the model: torch_xla's own graph lists the leaves of any tensor
(``_get_tensors_xla_device_data_node``), and each placeholder and input is known by its id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import torch

from exporters.neuron import lazy

__all__ = ["Origin", "Origins", "named_weights"]

Kind = Literal["parameter", "buffer", "input"]
_SHOWN: Final = 4


@dataclass(frozen=True)
class Origin:
    """A leaf of the graph: a parameter, buffer or input, by its name."""

    kind: Kind
    name: str

    @property
    def is_placeholder(self) -> bool:
        """Whether the leaf has no value while tracing."""
        return self.kind != "input"

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def named_weights(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Every parameter and buffer, once per module that holds it; tied ones are the same tensor.

    A module that is reached by two paths counts once: `torch.func.functional_call` would swap its
    tensors twice and leave the placeholder behind.
    """
    weights: dict[str, torch.Tensor] = {}
    for path, module in model.named_modules():
        prefix = f"{path}." if path else ""
        for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
            weights[prefix + name] = parameter
        for name, buffer in module.named_buffers(recurse=False, remove_duplicate=False):
            weights[prefix + name] = buffer
    return weights


class Origins:
    """The named leaves of one trace.

    Args:
        model: The model that is traced.
        placeholders: What stands for its weights, by their names.
        inputs: The inputs on the XLA device, by their names.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        placeholders: Mapping[str, torch.Tensor],
        inputs: Mapping[str, torch.Tensor],
    ) -> None:
        self._by_id: dict[int, tuple[Origin, ...]] = {}
        self._read: set[int] = set()
        buffers = dict(model.named_buffers(remove_duplicate=False))
        for name, tensor in placeholders.items():
            kind: Kind = "buffer" if name in buffers else "parameter"
            self._by_id.setdefault(lazy.tensor_id(tensor), (Origin(kind, name),))
        for name, tensor in inputs.items():
            self._by_id.setdefault(lazy.tensor_id(tensor), (Origin("input", name),))

    def of(self, tensor: torch.Tensor) -> tuple[Origin, ...]:
        """Every origin that `tensor` is or derives from; empty for a constant."""
        leaves = lazy.graph_leaves([tensor])
        found = [origin for leaf_id, _ in leaves for origin in self._by_id.get(leaf_id, ())]
        return tuple(dict.fromkeys(found))

    def leaf(self, tensor_id: int) -> Origin | None:
        """The origin with this tensor id, unless it stands for a value read while tracing."""
        origins = self._by_id.get(tensor_id, ())
        return origins[0] if len(origins) == 1 and tensor_id not in self._read else None

    def derive(self, tensor: torch.Tensor, origins: tuple[Origin, ...]) -> None:
        """Note that `tensor`, a new leaf of the graph, was computed outside it from `origins`."""
        for new in {leaf_id for leaf_id, _ in lazy.graph_leaves([tensor])} - set(self._by_id):
            self._by_id[new] = origins
            self._read.add(new)

    def describe(self, tensor: torch.Tensor) -> str:
        """Shape, dtype and origins of `tensor`, for an error message."""
        shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
        origins = self.of(tensor)
        if not origins:
            return f"a constant {shape} {dtype}"
        if self.leaf(lazy.tensor_id(tensor)) is not None:
            return f"{origins[0]} {shape} {dtype}"
        return f"{shape} {dtype} derived from {_listed(origins)}"


def _listed(origins: tuple[Origin, ...]) -> str:
    """Every input, and as many weights as a message can hold: a late layer has hundreds."""
    weights = [str(origin) for origin in origins if origin.is_placeholder]
    inputs = [str(origin) for origin in origins if not origin.is_placeholder]
    left = len(weights) - _SHOWN
    more = [f"{left} more parameters and buffers"] if left > 0 else []
    return ", ".join([*weights[:_SHOWN], *more, *inputs])
