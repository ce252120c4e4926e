"""ONNX: checked with ``onnx.checker``, run in ONNX Runtime."""

from __future__ import annotations
from collections.abc import Mapping
from typing import Any
from exporters.base import ExportOptions, Variant
from exporters.hf import HfBackend

__all__ = ["OnnxBackend"]


class OnnxBackend(HfBackend):
    """transformers' OnnxExporter."""

    name = "onnx"
    test_prefix = "onnx"
    export_format = "onnx"
    variants = (Variant(dynamic=False), Variant(dynamic=True))
    packages = ("torch", "onnx", "onnxscript", "onnxruntime")
    distributions = ("torch", "transformers", "onnx", "onnxscript", "onnxruntime")

    def tolerance(self, runtime: str | None) -> float:
        return 1e-3

    def configured(self, options: ExportOptions) -> Mapping[str, Any]:
        return {}
