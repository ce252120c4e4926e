"""What exports to ONNX import, but for ONNX Runtime."""

from __future__ import annotations

import onnxscript  # noqa: F401
import torch.onnx._internal.exporter._core  # noqa: F401

import exporters.dynamo.preloaded  # noqa: F401
from exporters.hf import has_exporters
from exporters.hf.toolkit import look_up_patches

__all__: list[str] = []

if has_exporters():
    look_up_patches("onnx")
