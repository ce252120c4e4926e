"""The double of a backend; importing this module registers it, in pytest by ``-p``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import exporters
from exporters.base import ExportedModel, ExportOptions
from tests.testing.faults_backend.plan import PACKAGE, fault_of, remember
from tests.testing.faulty_double import FaultyDouble, Unchanged, UnloweredError

if TYPE_CHECKING:
    import torch

exporters.BACKENDS["faults"] = f"{PACKAGE}.backend:FaultsBackend"

GUARDED = ("Segfaults", "Aborts")
"""Faults that a lowering guard would see."""


class FaultsBackend(FaultyDouble):
    name = "faults"
    test_prefix = "faults"
    distributions = ("torch",)

    def export(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        from tests.testing.faults_backend.faults import FAULTS

        model_class: str = model.named  # type: ignore[assignment]
        fault = fault_of(model_class)
        remember(model_class)
        if fault == "Raises" or (options.guard and fault in GUARDED):
            raise UnloweredError("aten::broken on linear.weight")
        if fault in FAULTS:
            FAULTS[fault](model_class)
        return Unchanged(model)
