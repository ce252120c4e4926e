"""Doubles of backends, and inputs for hand-written modules; none is a backend of the harness.

`EagerDouble` "exports" by keeping a copy of the model, so that it is right unless it is told to
do something wrong. `TracingDouble` really traces, and so really bakes in what a trace reads.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from exporters.base import (
    Backend,
    BakedRead,
    ExportedModel,
    ExportOptions,
    Variant,
    WeightsInlinedError,
)
from exporters.batching import run_in_chunks
from exporters.tree import substitute, tensor_leaves
from testing.cases import ExportCase
from testing.pipeline import run
from testing.registry.entries import Tolerance
from testing.results import CaseResult
from testing.settings import CaseRequest, RunSettings
from testing.subject import Subject

Edit = Callable[[Any], Any]
TOLERANCE = Tolerance(1e-4, 1e-4)


class MadeInputs:
    """Inputs from a function of a seeded generator, the family, the batch size, and the axes."""

    def __init__(
        self,
        make: Callable[..., dict[str, Any]],
        families: tuple[str, ...] = ("noise", "ramp"),
        batch_size: int = 2,
        axes: Mapping[str, int] | None = None,
    ) -> None:
        self._make = make
        self.families = families
        self.batch_size = batch_size
        self.unchanged: Mapping[str, str] = {}
        self.axes: Mapping[str, int] = dict(axes or {})

    def traced(self) -> dict[str, Any]:
        generator = torch.Generator().manual_seed(100)
        return self._make(generator, "traced", self.batch_size, **self.axes)

    def fresh(
        self,
        family: str,
        batch_size: int | None = None,
        lengths: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        seed = 200 + self.families.index(family)
        generator = torch.Generator().manual_seed(seed)
        sizes = {**self.axes, **(lengths or {})}
        return self._make(generator, family, batch_size or self.batch_size, **sizes)


def normal(*shape: int) -> Callable[[torch.Generator, str, int], dict[str, Any]]:
    """One input ``x`` of the given shape behind the batch axis."""
    return lambda generator, _, batch: {"x": torch.randn(batch, *shape, generator=generator)}


@dataclass
class EagerDouble(Backend):
    """Runs a copy of the model and lets `edit` change what it returned.

    Attributes:
        edit: Applied to every output.
        edit_call: Applied to the inputs of every call.
        weights: ``swap`` takes other weights over, ``ignore`` keeps the old, ``inline`` refuses.
        chunks: Whether ``dynamic`` splits the batch into chunks of the traced one.
        error: Raised by `export`.
        runnable: Whether the exported model can run.
        seen: Options of each export.
    """

    name = "double"
    test_prefix = "double"
    variants = (Variant(dynamic=False), Variant(dynamic=True))
    distributions = ("torch", "pytest", "no-such-distribution")

    edit: Edit = lambda output: output
    edit_call: Edit = lambda inputs: inputs
    weights: str = "swap"
    chunks: bool = False
    error: BaseException | None = None
    runnable: bool = True
    seen: list[ExportOptions] = field(default_factory=list)

    @property
    def chunks_batch(self) -> bool:  # type: ignore[override]
        return self.chunks

    def resolve_runtime(self, requested: str = "auto") -> str | None:
        return None

    def tolerance(self, runtime: str | None) -> float:
        return 1e-4

    def export(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        self.seen.append(options)
        if self.error:
            raise self.error
        batch = next(iter(tensor_leaves(dict(inputs)).values())).shape[0]
        chunk = batch if self.chunks and options.dynamic else None
        return _EagerCopy(self, copy.deepcopy(model), chunk)


class _EagerCopy(ExportedModel):
    patches = ("a-patch",)

    def __init__(self, double: EagerDouble, model: torch.nn.Module, chunk: int | None) -> None:
        self._double, self._model, self._chunk = double, model, chunk
        self.runnable = double.runnable

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        given = self._double.edit_call(dict(inputs))
        if self._chunk:
            output = run_in_chunks(lambda piece: self._model(**piece), given, self._chunk)
        else:
            output = self._model(**given)
        return self._double.edit(output)

    def with_weights(self, model: torch.nn.Module) -> ExportedModel:
        if self._double.weights == "inline":
            raise WeightsInlinedError("this double inlines weights")
        kept = self._model if self._double.weights == "ignore" else copy.deepcopy(model)
        return _EagerCopy(self._double, kept, self._chunk)


class ExportingDouble(EagerDouble):
    """Exports with ``torch.export``, which fixes what the model lets it fix.

    Under ``dynamic`` every axis of every input is declared so, as transformers' exporters do;
    those in `fixed` are left out, as an exporter with a fault may.
    """

    fixed: tuple[tuple[str, int], ...] = ()

    def export(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        dims = {
            name: {
                axis: torch.export.Dim.AUTO
                for axis in range(value.ndim)
                if options.dynamic and (name, axis) not in self.fixed
            }
            for name, value in inputs.items()
        }
        program = torch.export.export(model, (), dict(inputs), dynamic_shapes=dims, strict=False)
        return _Program(program)


class _Program(ExportedModel):
    def __init__(self, program: Any) -> None:
        self._module = program.module()

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        return self._module(**inputs)

    def with_weights(self, model: torch.nn.Module) -> ExportedModel:
        raise WeightsInlinedError("this double holds its weights")


class TracingDouble(EagerDouble):
    """Traces with ``torch.jit.trace``, which bakes in whatever Python reads from a tensor."""

    def export(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        return _Traced(model, dict(inputs))


class _Traced(ExportedModel):
    def __init__(self, model: torch.nn.Module, inputs: dict[str, Any]) -> None:
        with _Reads() as reads:
            self._output = model(**inputs)
        self.baked_reads = tuple(reads.found)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", torch.jit.TracerWarning)
            flat, values = _Flat(model, tuple(inputs)), tuple(inputs.values())
            self._program = torch.jit.trace(flat, values, check_trace=False)

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        found = self._program(*inputs.values())
        old = tensor_leaves(self._output).values()
        return substitute(self._output, {id(o): n for o, n in zip(old, found, strict=True)})

    def with_weights(self, model: torch.nn.Module) -> ExportedModel:
        other = copy.copy(self)
        other._program = copy.deepcopy(self._program)
        other._program.load_state_dict({f"model.{k}": v for k, v in model.state_dict().items()})
        return other


class _Flat(torch.nn.Module):
    """A model of positional inputs and a flat tuple of outputs, as ``torch.jit.trace`` wants."""

    def __init__(self, model: torch.nn.Module, names: tuple[str, ...]) -> None:
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, *values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        output = self.model(**dict(zip(self.names, values, strict=True)))
        return tuple(tensor_leaves(output).values())


class _Reads(TorchDispatchMode):
    """Records values that Python reads from tensors, with the model's source line."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[BakedRead] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten._local_scalar_dense.default:
            self.found.append(BakedRead("aten::_local_scalar_dense", ("x",), _model_line()))
        return func(*args, **(kwargs or {}))


def _model_line() -> str | None:
    frame = sys._getframe()
    while frame and not PurePath(frame.f_code.co_filename).name.startswith("test_"):
        frame = frame.f_back
    return f"{PurePath(frame.f_code.co_filename).name}:{frame.f_lineno}" if frame else None


def request_for(model: torch.nn.Module, dynamic: bool = False, **values: Any) -> CaseRequest:
    name = type(model).__name__
    case = ExportCase(name, None, "double", dynamic=dynamic)
    defaults: dict[str, Any] = {"tolerance": TOLERANCE, "settings": RunSettings(), **values}
    return CaseRequest(case, f"test::{name}", "m", "/nowhere/m.py", "T", "test", **defaults)


def run_double(
    model: torch.nn.Module,
    inputs: Any,
    backend: Backend,
    *,
    exceptions: tuple[str, ...] = (),
    on_stage: Callable[[str], None] = lambda stage: None,
    **values: Any,
) -> CaseResult:
    """Take a hand-written model through the pipeline."""
    subject = Subject(model.eval(), inputs, exceptions)
    return run(request_for(model, **values), lambda: subject, on_stage, backend)
