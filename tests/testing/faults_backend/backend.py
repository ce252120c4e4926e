"""The double of a backend; importing this module registers it, in pytest by ``-p``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import exporters
from exporters.base import Backend, ExportedModel, ExportError, ExportOptions, Variant
from tests.testing.faults_backend.plan import PACKAGE, fault_of, remember

if TYPE_CHECKING:
    import torch

exporters.BACKENDS["faults"] = f"{PACKAGE}.backend:FaultsBackend"

GUARDED = ("Segfaults", "Aborts")
"""Faults that a lowering guard would see."""


class UnloweredError(ExportError):
    op = "aten::broken"
    operand = "parameter weight"
    source = "modeling_faulty.py:1"


class _Unchanged(ExportedModel):
    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        return self._model(**inputs)

    def with_weights(self, model: torch.nn.Module) -> ExportedModel:
        return _Unchanged(model)


class FaultsBackend(Backend):
    name = "faults"
    test_prefix = "faults"
    variants = (Variant(dynamic=False),)
    can_crash = True
    preload = ("torch",)
    distributions = ("torch",)

    def resolve_runtime(self, requested: str = "auto") -> str | None:
        return None

    def tolerance(self, runtime: str | None) -> float:
        return 1e-4

    def export(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        from tests.testing.faults_backend.faults import FAULTS

        model_class: str = model.named  # type: ignore[assignment]
        fault = fault_of(model_class)
        remember(model_class)
        if fault == "Raises" or (options.guard and fault in GUARDED):
            raise UnloweredError("aten::broken on parameter weight")
        if fault in FAULTS:
            FAULTS[fault](model_class)
        return _Unchanged(model)
