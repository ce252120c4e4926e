"""The trace: a model run on placeholders, and the lazy graph that it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from exporters.base import Selection, UnsupportedOutputError
from exporters.flat import Binding
from exporters.neuron import lazy
from exporters.neuron.origins import Origins, named_weights
from exporters.neuron.watch import NO_LOWERINGS, Seen, Watcher
from exporters.tree import tensor_leaves

__all__ = ["TracedGraph", "placeholders_of", "trace"]


@dataclass(frozen=True)
class TracedGraph:
    """What tracing a model gives.

    Attributes:
        output: The model's output, its tensors lazy.
        binding: The names of the inputs, and what of them is no tensor.
        origins: What the placeholders and inputs of the graph are called.
        seen: What was read, folded and lowered; nothing without guard and lowerings.
    """

    output: Any
    binding: Binding
    origins: Origins
    seen: Seen


def trace(
    model: torch.nn.Module,
    inputs: Mapping[str, Any],
    guarded: bool,
    lowerings: Selection = NO_LOWERINGS,
) -> TracedGraph:
    """Run `model` with placeholders as weights and `inputs` as real tensors on the XLA device.

    Args:
        model: A model in eval mode, on the CPU.
        inputs: Keyword inputs; nested structures and caches may hold the tensors.
        guarded: Whether an op that would kill the process raises instead.
        lowerings: What may be done about such an op before.

    Raises:
        UnloweredOpError: Guarded, when an op would read a placeholder.
    """
    binding = Binding(inputs)
    weights = {name: weight.detach() for name, weight in named_weights(model).items()}
    placeholders = placeholders_of(named_weights(model))
    on_device = [lazy.to_device(tensor) for tensor in binding.flatten(inputs)]
    origins = Origins(model, placeholders, dict(zip(binding.names, on_device, strict=True)))
    watcher = Watcher(weights, guarded, lowerings)
    with torch.no_grad(), watcher.forward(model, placeholders, origins):
        # Every module's own name is given and ties share a placeholder, so nothing is to tie.
        output = torch.func.functional_call(
            model, placeholders, kwargs=binding.restore(on_device), tie_weights=False
        )
    _require_lazy(output)
    return TracedGraph(output, binding, origins, watcher.seen)


def placeholders_of(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """One placeholder per distinct tensor, so that what is tied stays tied."""
    distinct: dict[int, torch.Tensor] = {}
    for weight in weights.values():
        if id(weight) not in distinct:
            distinct[id(weight)] = lazy.placeholder(weight.shape, weight.dtype)
    return {name: distinct[id(weight)] for name, weight in weights.items()}


def _require_lazy(output: Any) -> None:
    elsewhere = {
        path: leaf.device
        for path, leaf in tensor_leaves(output).items()
        if leaf.device.type not in ("xla", "cpu")
    }
    if elsewhere:
        raise UnsupportedOutputError(f"outputs on other devices than the trace's: {elsewhere}")
