"""What exports to ONNX import, but for ONNX Runtime."""

from __future__ import annotations

import onnxscript  # noqa: F401
import torch.onnx._internal.exporter._core  # noqa: F401

import exporters.dynamo.preloaded  # noqa: F401

__all__: list[str] = []
