"""The neuron backend: which runtime serves a case, and what surrounds the trace."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

from exporters.base import (
    Backend,
    BackendUnavailableError,
    Diagnosis,
    ExportedModel,
    ExportOptions,
    OpUse,
    PatchFacts,
    Selection,
    Variant,
)
from exporters.neuron import cores, neuronx

if TYPE_CHECKING:
    import torch

__all__ = ["NeuronBackend"]

_XLA_FLAGS: Final = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_parallel_codegen_split_count=1 --xla_cpu_use_fusion_emitters=false "
    "--xla_allow_excess_precision=false"
)
# What the user has set: a process that runs cases itself sets its own share on top of it.
_AT_START: Final = dict(os.environ)
INSTALL_XLA = "pip install 'export-harness[xla]'"


class NeuronBackend(Backend):
    """Traces with parameters as placeholders; runs on Neuron, or on XLA's CPU client."""

    name = "neuron"
    test_prefix = "neuron"
    variants = (
        Variant(dynamic=False),
        Variant(dynamic=True),
        # A program has fixed shapes, so that a cache has to be of fixed size.
        Variant(dynamic=False, generate=True, static_cache=True),
    )
    runtimes = ("neuronx", "xla")
    can_crash = True
    chunks_batch = True
    preload = (
        "torch",
        "transformers",
        "torch_xla",
        "exporters.neuron.xla",
        "exporters.neuron.patches",
    )
    distributions = (
        "torch",
        "torch-xla",
        "torch-neuronx",
        "neuronx-cc",
        "transformers",
        "optimum",
    )

    diagnosed_on = "xla"

    def resolve_runtime(self, requested: str = "auto") -> str:
        """``neuronx`` where torch_neuronx is installed, else ``xla`` where torch_xla is."""
        if requested not in ("auto", *self.runtimes):
            raise ValueError(
                f"no neuron runtime is called {requested!r}; there are: auto, "
                + ", ".join(self.runtimes)
            )
        if requested in ("auto", "neuronx") and neuronx.is_installed():
            return "neuronx"
        if requested in ("auto", "xla") and importlib.util.find_spec("torch_xla"):
            return "xla"
        if requested == "neuronx":
            raise BackendUnavailableError(
                "torch_neuronx is not installed (the Neuron DLAMI has it; PyPI's package of that "
                "name is empty).",
                neuronx.INSTALL,
            )
        raise BackendUnavailableError("torch_xla is not installed.", INSTALL_XLA)

    def patches(self) -> tuple[PatchFacts, ...]:
        """The trace patches."""
        from exporters.neuron.patches import PATCHES

        return tuple(PATCHES.values())

    def lowering_names(self) -> tuple[str, ...]:
        """Constant folding, baked reads, and each op that has a lowering."""
        from exporters.neuron.lowerings import lowering_names

        return lowering_names()

    def patched(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], selection: Selection
    ) -> AbstractContextManager[tuple[str, ...]]:
        """`trace_patches`."""
        from exporters.neuron.patches import trace_patches

        return trace_patches(model, inputs, selection)

    def diagnose(
        self,
        model: torch.nn.Module,
        inputs: Mapping[str, Any],
        patches: Selection,
        on_use: Callable[[OpUse], None] = lambda use: None,
    ) -> Diagnosis:
        """Traces with every lowering and goes on where the guard would refuse."""
        from exporters.neuron.diagnosis import diagnose

        return diagnose(model, inputs, patches, on_use)

    def sketch(self, use: OpUse) -> str | None:
        """A lowering of its op, or where it reads data a trace patch of its module."""
        from exporters.neuron.sketches import sketch

        return sketch(use)

    def environment(self, runtime: str | None) -> Mapping[str, str]:
        """For ``xla`` its CPU client, without the optimiser, and a second device.

        The optimiser takes three quarters of a case's time and changes nothing that is compared;
        a program in one module instead of 32 takes a fifth less to compile on one core, and
        without the fusion emitters a third of the time. Half precision is rounded after every op,
        as in eager; XLA may leave that out.
        On the second device the guard tries ops that draw random numbers.
        """
        if runtime == "neuronx":
            return {}
        return {"PJRT_DEVICE": "CPU", "CPU_NUM_DEVICES": "2", "XLA_FLAGS": _XLA_FLAGS}

    def devices(self, runtime: str | None) -> int | None:
        """NeuronCores, for ``neuronx`` where there is a device."""
        return len(cores.found(_AT_START)) or None if runtime == "neuronx" else None

    def share_of_devices(self, runtime: str | None, index: int, count: int) -> Mapping[str, str]:
        """Cores that no other of `count` processes sees; a process alone keeps what is set."""
        if count == 1 or not self.devices(runtime):
            return {}
        return cores.share(cores.found(_AT_START), index, count)

    def tolerance(self, runtime: str | None) -> float:
        """1e-4 for ``xla``; 1e-3 for ``neuronx`` until its first run on a device sets it."""
        return 1e-3 if runtime == "neuronx" else 1e-4

    def export(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        """Trace `model`; the trace patches are applied around the trace only."""
        runtime = options.runtime or self.resolve_runtime()
        with self.patched(model, inputs, options.patches) as applied:
            exported = _TRACERS[runtime](model, inputs, options)
        exported.patches = applied
        return exported


def _trace_xla(
    model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
) -> ExportedModel:
    from exporters.neuron import xla

    return xla.trace(model, inputs, options)


def _trace_neuronx(
    model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
) -> ExportedModel:
    """`torch_neuronx.trace`, the guard and the lowerings around the forward that it traces."""
    from exporters.neuron.origins import named_weights
    from exporters.neuron.watch import Watcher

    watcher = Watcher(named_weights(model), options.guard, options.lowerings)
    # A function, since the tracer may copy the module that holds it, and all that it holds.
    exported = neuronx.trace(model, inputs, options, watch=lambda *held: watcher.of_tracer(*held))
    exported.baked_reads = watcher.seen.baked_reads
    exported.lowerings = watcher.seen.lowerings
    exported.folds = watcher.seen.folds
    return exported


_TRACERS = {"xla": _trace_xla, "neuronx": _trace_neuronx}
