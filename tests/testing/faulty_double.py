"""The double of a backend that can die: what its cases share, whichever way they end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exporters.base import Backend, ExportedModel, ExportError, Variant

if TYPE_CHECKING:
    import torch

__all__ = ["FaultyDouble", "FewInputs", "Unchanged", "UnloweredError"]


class UnloweredError(ExportError):
    op = "aten::broken"
    operand = "parameter linear.weight"
    source = "modeling_faulty.py:1"


class Unchanged(ExportedModel):
    """The model itself."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        return self._model(**inputs)

    def with_weights(self, model: torch.nn.Module) -> ExportedModel:
        return Unchanged(model)


class FaultyDouble(Backend):
    """All but the name and `export`, in which a case meets its fault."""

    variants = (Variant(dynamic=False),)
    can_crash = True
    preload = ("torch",)

    def resolve_runtime(self, requested: str = "auto") -> str | None:
        return None

    def tolerance(self, runtime: str | None) -> float:
        return 1e-4


class FewInputs:
    """One input ``x`` of three features; what is fresh differs from what was traced."""

    batch_size = 2
    families = ("noise",)
    unchanged: Mapping[str, str] = {}
    axes: Mapping[str, int] = {}

    def traced(self) -> dict[str, Any]:
        import torch

        return {"x": torch.arange(6.0).reshape(2, 3)}

    def fresh(
        self,
        family: str,
        batch_size: int | None = None,
        lengths: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        import torch

        rows = batch_size or 2
        return {"x": torch.arange(3.0 * rows).reshape(rows, 3) * 0.7 + 0.1}
