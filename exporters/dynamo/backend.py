"""torch.export: an ``ExportedProgram``, run by torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exporters.base import ExportedModel, ExportOptions
from exporters.hf import VARIANTS, HfBackend

if TYPE_CHECKING:
    import torch

    from exporters.hf.program import HfModel

__all__ = ["DynamoBackend"]


class DynamoBackend(HfBackend):
    """transformers' DynamoExporter, else ``torch.export.export``."""

    name = "dynamo"
    test_prefix = "torch"
    export_format = "dynamo"
    variants = VARIANTS
    serves_plainly = True
    preload = ("torch", "transformers", "exporters.dynamo.preloaded")
    distributions = ("torch", "transformers")

    def tolerance(self, runtime: str | None) -> float:
        """1e-4: the program runs the same kernels as eager."""
        return 1e-4

    def configured(self, options: ExportOptions) -> Mapping[str, Any]:
        """Nothing besides the default."""
        return {}

    def loaded(self, exported: Any, program: HfModel) -> HfModel:
        """The program as a module whose weights can be replaced."""
        from exporters.dynamo.program import DynamoModel

        return DynamoModel(program.exported, program.traced)

    def export_plainly(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        """``torch.export.export(strict=False)``."""
        from exporters.plain.dynamo import export

        return export(model, inputs, options.dynamic)
