"""Runtime ``xla``: the traced graph, compiled once and run on XLA's CPU client.

It traces as ``torch_neuronx.trace`` does, so what kills the process there kills it here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from exporters.base import (
    ExportedModel,
    ExportError,
    ExportOptions,
    Selection,
    WeightsInlinedError,
)
from exporters.batching import common_batch, run_in_chunks
from exporters.flat import InputMismatchError
from exporters.neuron import lazy
from exporters.neuron.folding import Folded
from exporters.neuron.graph import TracedGraph
from exporters.neuron.graph import trace as trace_graph
from exporters.neuron.origins import Origin, named_weights
from exporters.tree import substitute, tensor_leaves

__all__ = ["XlaModel", "XlaProgram", "trace"]

Source = Origin | Folded | torch.Tensor
"""Where a value of the program comes from: a weight, an input, what was folded, or a constant."""


@dataclass(frozen=True)
class XlaProgram:
    """A compiled graph, and what goes in and comes out of it.

    Attributes:
        key: Key of the compiled program in torch_xla's cache; None when it computes nothing.
        computed: The lazy tensors that the program computes, in the order of its results.
        arguments: What each argument of the program is, in order.
        results: For each output leaf the index of the program's result, or the source that
            passes through unchanged, which the program itself does not return.
    """

    key: str | None
    computed: tuple[torch.Tensor, ...]
    arguments: tuple[Source, ...]
    results: Mapping[str, int | Source]

    @property
    def stablehlo(self) -> bytes:
        """The program as StableHLO bytecode; empty when it computes nothing."""
        return lazy.stablehlo(self.computed) if self.computed else b""

    def run(self, value_of: Callable[[Source], torch.Tensor]) -> dict[str, torch.Tensor]:
        """The output leaves, on the CPU, for the values of weights and inputs on the device."""
        arguments = [value_of(source) for source in self.arguments]
        computed = lazy.run_compiled(self.key, arguments) if self.key else []
        if len(computed) != len(self.computed):
            raise ExportError(
                f"the program returned {len(computed)} of the {len(self.computed)} values that "
                "it computes; this torch_xla differs from the one the runtime was written for"
            )
        leaves = {
            path: computed[result] if isinstance(result, int) else value_of(result)
            for path, result in self.results.items()
        }
        # Copies, since a constant on the CPU is that of every run.
        return {path: leaf.to("cpu", copy=True) for path, leaf in leaves.items()}


@dataclass
class XlaModel(ExportedModel):
    """A traced model with weights bound to it.

    Attributes:
        program: What was compiled.
        graph: What was traced, its output the structure of every result.
        example: The inputs of the trace.
        weights: Values of the parameters and buffers and of what was folded, on the CPU.
        selection: The trace patches that were allowed.
        batch_size: Traced size of axis 0, when any other may be run too.
    """

    program: XlaProgram
    graph: TracedGraph
    example: Mapping[str, Any]
    weights: Mapping[str, torch.Tensor]
    selection: Selection
    batch_size: int | None = None

    def __post_init__(self) -> None:
        self._on_device: dict[str, torch.Tensor] = {}
        self._traced = {name: _kind(t) for name, t in self._bound(self.example).items()}

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        """Run on inputs of the traced shapes; with a `batch_size`, of any size of axis 0.

        Raises:
            InputMismatchError: Other leaves, shapes, dtypes or flags than those of the trace.
        """
        if self.batch_size is None:
            return self._run(inputs)
        return run_in_chunks(self._run, inputs, self.batch_size)

    def with_weights(self, model: torch.nn.Module) -> XlaModel:
        """The same compiled program with the weights of `model`, patched as it was traced.

        Raises:
            WeightsInlinedError: While tracing the model read a value of its weights that differs,
                or it held a tensor that this one lacks, such as a cache that a run fills.
        """
        from exporters.neuron.patches import trace_patches

        # A copy, since what `ExportedModel` declares (patches, baked reads) is no field.
        rebound = copy.copy(self)
        rebound._on_device = {}
        with trace_patches(model, self.example, self.selection):
            weights = _values(model)
            self._require(weights)
            rebound.weights = {**weights, **self.graph.seen.folds.values_for(weights)}
        return rebound

    def _require(self, weights: Mapping[str, torch.Tensor]) -> None:
        sources = (*self.program.arguments, *self.program.results.values())
        used = {s.name for s in sources if isinstance(s, Origin) and s.is_placeholder}
        missing = sorted(used - weights.keys())
        if missing:
            raise WeightsInlinedError(
                f"the traced model held {', '.join(missing)}, which this one does not; run this "
                "one as that was run before, or export it"
            )

    def _run(self, inputs: Mapping[str, Any]) -> Any:
        given = self._bound(inputs)
        for name, tensor in given.items():
            if _kind(tensor) != self._traced[name]:
                raise InputMismatchError(
                    f"input {name} is {_kind(tensor)}, traced as {self._traced[name]}"
                )
        values = self.program.run(lambda source: self._value_of(source, given))
        traced = tensor_leaves(self.graph.output)
        replacements = {id(traced[path]): value for path, value in values.items()}
        return substitute(self.graph.output, replacements)

    def _bound(self, inputs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        binding = self.graph.binding
        return dict(zip(binding.names, binding.flatten(inputs), strict=True))

    def _value_of(self, source: Source, given: Mapping[str, torch.Tensor]) -> torch.Tensor:
        if isinstance(source, torch.Tensor):
            return source
        if isinstance(source, Origin) and source.kind == "input":
            return lazy.to_device(given[source.name])
        if source.name not in self._on_device:
            self._on_device[source.name] = lazy.share(self.weights[source.name])
        return self._on_device[source.name]


def trace(model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions) -> XlaModel:
    """Trace `model` on placeholders and compile the graph for XLA's CPU client.

    Raises:
        UnloweredOpError: With the guard on, when an op would read a placeholder.
    """
    graph = trace_graph(model, inputs, options.guard, options.lowerings)
    exported = XlaModel(
        program=_compile(graph),
        graph=graph,
        example=inputs,
        weights={**_values(model), **graph.seen.folds.values()},
        selection=options.patches,
        batch_size=common_batch(inputs) if options.dynamic else None,
    )
    exported.baked_reads = graph.seen.baked_reads
    exported.lowerings = graph.seen.lowerings
    return exported


def _compile(graph: TracedGraph) -> XlaProgram:
    """Compile what the graph computes; leaves that pass through it are kept beside it."""
    distinct: dict[int, torch.Tensor] = {}
    results: dict[str, int | Source] = {}
    for path, leaf in tensor_leaves(graph.output).items():
        passed = _passed_through(leaf, graph)
        if passed is not None:
            results[path] = passed
            continue
        tensor_id = lazy.tensor_id(leaf)
        distinct.setdefault(tensor_id, leaf)
        results[path] = list(distinct).index(tensor_id)
    outputs = tuple(distinct.values())
    if not outputs:
        return XlaProgram(None, outputs, (), results)
    arguments = tuple(
        _source(leaf_id, value, graph) for leaf_id, value in lazy.graph_leaves(outputs)
    )
    return XlaProgram(lazy.compile_graph(outputs), outputs, arguments, results)


def _passed_through(leaf: torch.Tensor, graph: TracedGraph) -> Source | None:
    """What `leaf` is, when the graph does not compute it: it has no node of its own."""
    if leaf.device.type != "xla":
        return leaf
    found = lazy.leaf_of(leaf)
    if found is None:
        return None
    leaf_id, value = found
    return _source(leaf_id, value, graph)


def _source(leaf_id: int, value: torch.Tensor, graph: TracedGraph) -> Source:
    return graph.origins.leaf(leaf_id) or graph.seen.folds.leaf(leaf_id) or value


def _values(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: weight.detach() for name, weight in named_weights(model).items()}


def _kind(tensor: torch.Tensor) -> str:
    """Dtype and shape, ``float32[2, 3]``."""
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
