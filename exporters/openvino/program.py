"""An OpenVINO program that transformers' exporter has made, with the states folded into it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from exporters.base import ExportError, UnsupportedOutputError
from exporters.flat import InputMismatchError
from exporters.hf.inputs import HfInputs
from exporters.hf.program import HfModel
from exporters.hf.toolkit import leaf_tensors
from exporters.openvino.states import States

if TYPE_CHECKING:
    import torch

__all__ = ["OpenVinoModel", "counts_tokens", "reads_across"]


def counts_tokens(inputs: Mapping[str, Any]) -> bool:
    """Whether a cache among `inputs` has a tensor without axes."""
    leaves = (leaf for cache in _caches(inputs) for leaf in leaf_tensors(cache).values())
    return any(not leaf.dim() for leaf in leaves)


def reads_across(inputs: Mapping[str, Any]) -> bool:
    """Whether a cache among `inputs` holds what a decoder reads of its encoder."""
    return any(hasattr(cache, "cross_attention_cache") for cache in _caches(inputs))


def _caches(inputs: Mapping[str, Any]) -> list[Any]:
    dynamo: Any = import_module("transformers.exporters.exporter_dynamo")
    return [value for value in inputs.values() if dynamo.is_cache_object(value)]


class OpenVinoModel(HfModel):
    """A compiled program of OpenVINO.

    A cache that has been folded into it is neither an input nor an output: the states get their
    values from the cache of each run's inputs, and are read back into the cache of its output.
    """

    def __init__(self, exported: Any, traced: HfInputs) -> None:
        super().__init__(exported, traced)
        self._states = States(self.runner.request)
        self._outputs = _output_names(self.runner)
        self._dtypes = {name: leaf.dtype for name, leaf in leaf_tensors(traced.prepared).items()}
        self.notes = self._not_taken()

    def run(self, inputs: dict[str, Any]) -> Any:
        """Seed the states, infer, and read outputs and states in the order of the model's own."""
        self._states.seed(leaf_tensors(inputs))
        results = self.runner.request.infer(self._feed(inputs), share_inputs=False)
        found = {**self._read(results), **self._states.read(self._dtypes)}
        return self.runner.unflatten([found[name] for name in self._outputs])

    def _feed(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """The value of every port, under one of its names.

        Raises:
            InputMismatchError: A port has none; OpenVINO would use that of the run before.
        """
        utils: Any = import_module("transformers.exporters.utils")
        feed: dict[str, Any] = utils.openvino_feed(self.runner.compiled_model, inputs)
        for port in self.runner.compiled_model.inputs:
            if not port.get_names() & feed.keys():
                names = ", ".join(sorted(port.get_names())) or str(port)
                raise InputMismatchError(f"the program takes {names}, which is not given")
        return feed

    def _read(self, results: Any) -> dict[str, torch.Tensor]:
        """The outputs that are ports, by place: two ports of one tensor share its names."""
        runners: Any = import_module("transformers.exporters.runners.runner_openvino")
        ports = self.runner.compiled_model.outputs
        names = [name for name in self._outputs if name not in self._states.names]
        if len(ports) != len(names):
            raise UnsupportedOutputError(
                f"the program has {len(ports)} outputs and {len(self._states.names)} states, "
                f"the model {len(self._outputs)} outputs: {', '.join(self._outputs)}"
            )
        read = runners.openvino_output_tensor
        return {
            name: read(results[port], port).clone()
            for name, port in zip(names, ports, strict=True)
        }

    def _not_taken(self) -> tuple[str, ...]:
        """The inputs that OpenVINO dropped, since the program does not read them."""
        ports = {name for port in self.runner.compiled_model.inputs for name in port.get_names()}
        taken = {name.removeprefix("input.") for name in ports} | self._states.names
        names = [name for name in self._dtypes if name not in taken]
        return (f"the program does not take {', '.join(names)}",) if names else ()


def _output_names(runner: Any) -> list[str]:
    """The names of the model's output tensors in transformers, in the order of its structure."""
    import torch

    count = runner.out_spec.num_leaves - len(runner.out_constants)
    numbered = runner.unflatten([torch.tensor(place) for place in range(count)])
    names = {int(place): name for name, place in leaf_tensors(numbered).items()}
    if len(names) != count:
        raise ExportError(f"of {count} output tensors, {len(names)} have names")
    return [names[place] for place in range(count)]
