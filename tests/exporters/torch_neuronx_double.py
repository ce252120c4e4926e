"""A double of torch_neuronx, which cannot be installed here. It is NOT the real toolkit.

It has exactly the signatures that the AWS documentation of SDK 2.31 gives, records how it was
called, keeps the documented limits (tensors in, tensors out, fixed shapes and dtypes), and
executes the traced graph with PyTorch on the CPU. What it returns proves how the runtime talks to
the toolkit; it proves nothing of Neuron's numerics. Its dynamic batching is written after the
same documentation as `exporters.batching` and shares no code with it.
"""

from __future__ import annotations

import copy
import types
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch


class NeuronScript:
    """What the double's ``trace`` returns in place of a ScriptModule."""

    def __init__(self, traced: Any, example: tuple[torch.Tensor, ...], runnable: bool) -> None:
        self.traced = traced
        self.kinds = [(t.shape, t.dtype) for t in example]
        self.runnable = runnable
        self.dynamic = False
        self.after: Callable[[Any], Any] = lambda outputs: outputs

    def __call__(self, *tensors: torch.Tensor) -> Any:
        if not self.runnable:
            raise RuntimeError("this double was compiled with cpu_backend and has no device")
        if self.dynamic:
            return self.after(self._in_traced_batches(tensors))
        self._check([(t.shape, t.dtype) for t in tensors])
        return self.after(self.traced(*tensors))

    def _check(self, kinds: list[Any]) -> None:
        if kinds != self.kinds:
            raise ValueError(f"traced with {self.kinds}, called with {kinds}")

    def _in_traced_batches(self, tensors: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        size = self.kinds[0][0][0]
        (batch,) = {t.shape[0] for t in tensors}
        results = []
        for rows in torch.arange(batch).split(size):
            filled = [
                t.new_zeros(shape) for t, (shape, _) in zip(tensors, self.kinds, strict=True)
            ]
            for target, tensor in zip(filled, tensors, strict=True):
                target[: len(rows)] = tensor[rows]
            results.append(self.traced(*filled))
        return tuple(torch.cat(column)[:batch] for column in zip(*results, strict=True))


@dataclass
class TraceCall:
    """One call of ``trace``, as it was made."""

    func: Any
    shapes: list[tuple[int, ...]]
    keywords: dict[str, Any]


@dataclass
class Double:
    """The double, its faults and its record.

    Attributes:
        rounds_inlined_weights: Inlined weights lose all but three bits of mantissa (B04 i).
        ignores_new_weights: ``replace_weights`` does nothing (B04 ii).
        on_placeholders: The module is run with placeholders as weights first, as SDK 2.27 does.
        outputs: What programs do to the outputs before they return them.
        wraps: What ``trace`` returns in place of the program.
        calls: Every call of ``trace``.
        staged: The placeholders by the names of their weights, and what the module gave on them.
    """

    rounds_inlined_weights: bool = False
    ignores_new_weights: bool = False
    on_placeholders: bool = False
    outputs: Callable[[Any], Any] = lambda outputs: outputs
    wraps: Callable[[NeuronScript], Any] = lambda program: program
    calls: list[TraceCall] = field(default_factory=list)
    staged: tuple[dict[str, torch.Tensor], Any] | None = None

    def module(self, **replaced: Any) -> types.ModuleType:
        """A module to stand as ``torch_neuronx``; a function that is given as None is absent."""
        functions = {
            "trace": self._trace(),
            "dynamic_batch": self._dynamic_batch(),
            "replace_weights": self._replace_weights(),
            **replaced,
        }
        module = types.ModuleType("torch_neuronx", __doc__)
        for name, function in functions.items():
            if function is not None:
                setattr(module, name, function)
        return module

    def compile(self, func: Any, example_inputs: Any, keywords: dict[str, Any]) -> Any:
        """What every variant of ``trace`` does."""
        example = (example_inputs,) if isinstance(example_inputs, torch.Tensor) else example_inputs
        assert isinstance(example, tuple)
        assert all(isinstance(t, torch.Tensor) for t in example)
        self.calls.append(TraceCall(func, [tuple(t.shape) for t in example], keywords))
        own = copy.deepcopy(func)  # weights in the NEFF or beside it, but never the caller's
        if self.rounds_inlined_weights and keywords.get("inline_weights_to_neff", True):
            _round_weights(own)
        if self.on_placeholders:
            self.staged = _stage_out(own, example)
        outputs = own(*(t.clone() for t in example))
        if not all(isinstance(t, torch.Tensor) for t in outputs):
            raise RuntimeError("only tensors or tuples of tensors can be output from a trace")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", torch.jit.TracerWarning)
            traced = torch.jit.trace(own, example, check_trace=False)
        program = NeuronScript(traced, example, runnable=not keywords.get("cpu_backend", False))
        program.after = self.outputs
        return self.wraps(program)

    def _trace(self) -> Callable[..., Any]:
        def trace(
            func,
            example_inputs,
            *_,
            input_output_aliases={},  # noqa: B006 - as documented
            compiler_workdir=None,
            compiler_args=None,
            partitioner_config=None,
            inline_weights_to_neff=True,
            cpu_backend=False,
        ):
            keywords = {
                "compiler_workdir": compiler_workdir,
                "compiler_args": compiler_args,
                "inline_weights_to_neff": inline_weights_to_neff,
                "cpu_backend": cpu_backend,
            }
            return self.compile(func, example_inputs, keywords)

        return trace

    def _dynamic_batch(self) -> Callable[..., Any]:
        def dynamic_batch(neuron_script):
            neuron_script.dynamic = True
            return neuron_script

        return dynamic_batch

    def _replace_weights(self) -> Callable[..., Any]:
        def replace_weights(neuron_model, weights: Mapping[str, torch.Tensor]) -> None:
            if not self.ignores_new_weights:
                neuron_model.traced.load_state_dict(weights, strict=True)

        return replace_weights


def _round_weights(module: torch.nn.Module) -> None:
    """Keep three bits of mantissa, as an fp8 cast would."""
    with torch.no_grad():
        for parameter in module.parameters():
            mantissa, exponent = torch.frexp(parameter)
            parameter.copy_(torch.ldexp((mantissa * 8).round() / 8, exponent))


def _stage_out(
    module: torch.nn.Module, example: tuple[torch.Tensor, ...]
) -> tuple[dict[str, torch.Tensor], Any]:
    from torch_xla import device
    from torch_xla.core.xla_builder import create_placeholder_tensor

    named = [*module.named_parameters(), *module.named_buffers()]
    weights = {name: create_placeholder_tensor(tuple(w.shape), w.dtype) for name, w in named}
    inputs = tuple(t.to(device()) for t in example)
    return weights, torch.func.functional_call(module, weights, inputs)
