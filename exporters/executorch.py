"""ExecuTorch: lowered to a delegate, run in its runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exporters.base import ExportOptions, Variant
from exporters.hf import HfBackend

__all__ = ["ExecutorchBackend"]


class ExecutorchBackend(HfBackend):
    """transformers' ExecutorchExporter."""

    name = "executorch"
    test_prefix = "executorch"
    export_format = "executorch"
    variants = (
        Variant(dynamic=False, delegate="xnnpack"),
        Variant(dynamic=True, delegate="xnnpack"),
    )
    packages = ("torch", "executorch")
    runtimes = ("xnnpack", "mlx")
    can_crash = True
    distributions = ("torch", "transformers", "executorch", "torchao")

    def tolerance(self, runtime: str | None) -> float:
        """1e-3."""
        return 1e-3

    def configured(self, options: ExportOptions) -> Mapping[str, Any]:
        """The delegate."""
        return {"backend": options.runtime or "xnnpack"}
