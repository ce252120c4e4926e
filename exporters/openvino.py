"""ONNX: checked with ``onnx.checker``, run in ONNX Runtime."""

from __future__ import annotations
from collections.abc import Mapping
from typing import Any
from exporters.base import ExportOptions, Variant
from exporters.hf import HfBackend

__all__ = ["OpenVinoBackend"]


class OpenVinoBackend(HfBackend):
    """transformers' OpenVINOExporter."""

    name = "openvino"
    test_prefix = "openvino"
    export_format = "openvino"
    variants = (Variant(dynamic=False), Variant(dynamic=True))
    packages = ("torch", "openvino")
    distributions = ("torch", "transformers", "openvino")

    def tolerance(self, runtime: str | None) -> float:
        return 1e-3

    def configured(self, options: ExportOptions) -> Mapping[str, Any]:
        return {}

    def runner_arguments(self) -> Mapping[str, Any]:
        return {"config": {"INFERENCE_PRECISION_HINT": "f32"}}
