"""ONNX: checked with ``onnx.checker``, run in ONNX Runtime."""

from __future__ import annotations
from collections.abc import Mapping
from typing import Any
from exporters.base import ExportOptions, Variant
from exporters.hf import HfBackend

__all__ = ["DynamoBackend"]


class DynamoBackend(HfBackend):
    """transformers' OnnxExporter."""

    name = "dynamo"
    test_prefix = "torch"
    export_format = "dynamo"
    variants = (Variant(dynamic=False), Variant(dynamic=True))
    packages = ("torch",)
    distributions = ("torch", "transformers")

    def tolerance(self, runtime: str | None) -> float:
        return 1e-4

    def configured(self, options: ExportOptions) -> Mapping[str, Any]:
        return {}
