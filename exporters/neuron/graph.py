"""The trace: a model run on placeholders, and the lazy graph that it leaves behind."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from exporters.base import BakedRead, UnsupportedOutputError
from exporters.neuron import lazy
from exporters.neuron.flat import Binding
from exporters.neuron.guard import LoweringGuard
from exporters.neuron.origins import Kind, Origin, Origins
from exporters.tree import tensor_leaves

__all__ = ["TracedGraph", "named_weights", "trace"]


@dataclass(frozen=True)
class TracedGraph:
    """What tracing a model gives.

    Attributes:
        output: The model's output, its tensors lazy.
        binding: The names of the inputs, and what of them is no tensor.
        origins: What the placeholders and inputs of the graph are called.
        baked_reads: Values read from inputs while tracing; empty without the guard.
    """

    output: Any
    binding: Binding
    origins: Origins
    baked_reads: tuple[BakedRead, ...]


def named_weights(model: torch.nn.Module) -> dict[str, tuple[Kind, torch.Tensor]]:
    """Every parameter and buffer, once per module that holds it; tied ones are the same tensor.

    A module that is reached by two paths counts once: `torch.func.functional_call` would swap its
    tensors twice and leave the placeholder behind.
    """
    weights: dict[str, tuple[Kind, torch.Tensor]] = {}
    for path, module in model.named_modules():
        prefix = f"{path}." if path else ""
        for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
            weights[prefix + name] = ("parameter", parameter)
        for name, buffer in module.named_buffers(recurse=False, remove_duplicate=False):
            weights[prefix + name] = ("buffer", buffer)
    return weights


def trace(model: torch.nn.Module, inputs: Mapping[str, Any], guarded: bool) -> TracedGraph:
    """Run `model` with placeholders as weights and `inputs` as real tensors on the XLA device.

    Args:
        model: A model in eval mode, on the CPU.
        inputs: Keyword inputs; nested structures and caches may hold the tensors.
        guarded: Whether an op that would kill the process raises instead.

    Raises:
        UnloweredOpError: Guarded, when an op would read a placeholder.
    """
    binding = Binding(inputs)
    weights = named_weights(model)
    placeholders = _placeholders(weights)
    on_device = [tensor.to(lazy.device()) for tensor in binding.flatten(inputs)]
    origins = Origins(
        [(placeholders[name], Origin(kind, name)) for name, (kind, _) in weights.items()]
        + [(x, Origin("input", name)) for name, x in zip(binding.names, on_device, strict=True)]
    )
    with torch.no_grad(), _guard(model, origins, guarded) as guard:
        # Every module's own name is given and ties share a placeholder, so nothing is to tie.
        output = torch.func.functional_call(
            model, placeholders, kwargs=binding.restore(on_device), tie_weights=False
        )
    _require_lazy(output)
    return TracedGraph(output, binding, origins, tuple(guard.baked_reads) if guard else ())


def _placeholders(weights: Mapping[str, tuple[Kind, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """One placeholder per distinct tensor, so that what is tied stays tied."""
    distinct: dict[int, torch.Tensor] = {}
    for _, weight in weights.values():
        if id(weight) not in distinct:
            distinct[id(weight)] = lazy.placeholder(weight.shape, weight.dtype)
    return {name: distinct[id(weight)] for name, (_, weight) in weights.items()}


@contextlib.contextmanager
def _guard(
    model: torch.nn.Module, origins: Origins, guarded: bool
) -> Iterator[LoweringGuard | None]:
    if not guarded:
        yield None
        return
    with LoweringGuard(model, origins) as guard:
        yield guard


def _require_lazy(output: Any) -> None:
    elsewhere = {
        path: leaf.device
        for path, leaf in tensor_leaves(output).items()
        if leaf.device.type not in ("xla", "cpu")
    }
    if elsewhere:
        raise UnsupportedOutputError(f"outputs on other devices than the trace's: {elsewhere}")
