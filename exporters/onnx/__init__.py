"""ONNX, and its programs in ONNX Runtime."""

from __future__ import annotations

from exporters.onnx.backend import OnnxBackend

__all__ = ["OnnxBackend"]
