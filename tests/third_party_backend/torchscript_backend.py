"""A backend of export-harness: ``torch.jit.trace`` of the model's forward on flat tensors."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exporters.base import (
    Backend,
    BackendUnavailableError,
    ExportedModel,
    ExportOptions,
    Variant,
    WeightsInlinedError,
)

if TYPE_CHECKING:
    import torch

__all__ = ["TorchscriptBackend"]


class TorchscriptBackend(Backend):
    """Traces with ``torch.jit.trace``; what is imported at the top imports no torch."""

    name = "torchscript"
    test_prefix = "torchscript"
    variants = (Variant(dynamic=False), Variant(dynamic=True))
    can_crash = True

    def resolve_runtime(self, requested: str = "auto") -> str | None:
        """None, as there is one runtime; or what to install."""
        if importlib.util.find_spec("torch") is None:
            raise BackendUnavailableError("torch is not installed.", "pip install torch")
        return None

    def tolerance(self, runtime: str | None) -> float:
        """The same kernels run, so that little may differ."""
        return 1e-5

    def export(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        """Trace `model`."""
        import torch

        with torch.no_grad():
            flat = _flat(model, tuple(inputs))
            traced = torch.jit.trace(flat, tuple(inputs.values()), check_trace=False)
            structure = torch.utils._pytree.tree_structure(model(**inputs))
        return _Traced(traced, tuple(inputs), structure)


class _Traced(ExportedModel):
    def __init__(self, program: Any, names: tuple[str, ...], structure: Any) -> None:
        self._program = program
        self._names = names
        self._structure = structure

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        import torch

        with torch.no_grad():
            leaves = self._program(*(inputs[name].clone() for name in self._names))
        return torch.utils._pytree.tree_unflatten(leaves, self._structure)

    def with_weights(self, model: torch.nn.Module) -> ExportedModel:
        raise WeightsInlinedError("a TorchScript program holds its weights")


def _flat(model: torch.nn.Module, names: tuple[str, ...]) -> torch.nn.Module:
    """The model with tensors by position as inputs, and the leaves of its output as a tuple."""
    import torch

    class Flat(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
            outputs = self.model(**dict(zip(names, tensors, strict=True)))
            return tuple(torch.utils._pytree.tree_leaves(outputs))

    return Flat().eval()
