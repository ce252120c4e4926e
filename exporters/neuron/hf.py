"""The neuron backend as one of transformers' export formats; importing this module registers it.

It needs a transformers that has exporters (5.24). Afterwards
``AutoHfExporter.from_config(NeuronConfig())`` and ``ExportedModel.to()`` find what is here.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers.exporters.auto import register_backend
from transformers.exporters.base import HfExporter
from transformers.exporters.configs import ExportConfigMixin
from transformers.exporters.metadata import ExportMetadata
from transformers.exporters.runners.base import ModelRunner

from exporters.base import ExportedModel, ExportError, ExportOptions
from exporters.neuron.backend import NeuronBackend

if TYPE_CHECKING:
    import torch

__all__ = ["NeuronConfig", "NeuronExporter", "NeuronModelRunner", "UnsavableProgramError"]

FORMAT = "neuron"


class UnsavableProgramError(ExportError):
    """A program of this backend lives in the process that made it."""


@dataclass
class NeuronConfig(ExportConfigMixin):  # type: ignore[misc]
    """How a model is exported.

    Attributes:
        export_format: ``neuron``.
        dynamic: Whether other batch sizes than the traced one are taken, in chunks of it.
        runtime: ``auto``, ``neuronx`` or ``xla``.
    """

    export_format: str = FORMAT
    dynamic: bool = False
    runtime: str = "auto"


class NeuronExporter(HfExporter):  # type: ignore[misc]
    """Traces as `NeuronBackend` does, with its trace patches and lowerings."""

    export_format = FORMAT
    config_class = NeuronConfig
    program_suffix = ".neuron"
    required_packages = ["torch"]

    def export_program(
        self,
        model: torch.nn.Module,
        sample_inputs: MutableMapping[str, Any],
        config: NeuronConfig,
    ) -> tuple[ExportedModel, ExportMetadata]:
        """Trace one graph for keyword inputs.

        Raises:
            BackendUnavailableError: Nothing that is installed can serve ``config.runtime``.
            ExportError: What the backend itself refuses.
        """
        backend = NeuronBackend()
        runtime = backend.resolve_runtime(config.runtime)
        options = ExportOptions(runtime=runtime, dynamic=config.dynamic)
        program = backend.export(model, sample_inputs, options)
        return program, _metadata(model, sample_inputs)

    @classmethod
    def save_program(cls, program: ExportedModel, path: str | Path) -> None:
        """Not possible.

        Raises:
            UnsavableProgramError: Always.
        """
        raise UnsavableProgramError("a neuron program cannot be saved: export the model again")

    @classmethod
    def load_program(cls, path: str | Path) -> ExportedModel:
        """Not possible.

        Raises:
            UnsavableProgramError: Always.
        """
        raise UnsavableProgramError("a neuron program cannot be saved, and so not be loaded")


class NeuronModelRunner(ModelRunner):  # type: ignore[misc]
    """Runs a program, which gives the model's own structure back."""

    def __init__(self, program: ExportedModel, metadata: ExportMetadata) -> None:
        # transformers' own would read the structure of outputs from metadata.
        self.metadata = metadata
        self.program = program

    @classmethod
    def from_program(
        cls, program: ExportedModel, metadata: ExportMetadata, device: Any = None
    ) -> NeuronModelRunner:
        """The runner of a program, which runs where its runtime does whatever `device` says."""
        return cls(program, metadata)

    @property
    def device(self) -> torch.device:
        """The CPU, where inputs are taken from and outputs are given back."""
        import torch

        return torch.device("cpu")

    def __call__(
        self, share_inputs: bool = True, share_outputs: bool = False, **kwargs: Any
    ) -> Any:
        """Run on the traced forward's keyword inputs; they are never changed nor shared."""
        return self.program(kwargs)


def _metadata(model: torch.nn.Module, inputs: MutableMapping[str, Any]) -> ExportMetadata:
    from transformers.exporters.utils import module_dtype

    dtype = str(module_dtype(model) or "torch.float32").removeprefix("torch.")
    return ExportMetadata(
        architecture=type(model).__name__,
        export_dtype=dtype,
        export_device="cpu",
        kwargs={name: {"container": type(value).__name__} for name, value in inputs.items()},
    )


register_backend(NeuronExporter, NeuronModelRunner)
