"""OpenVINO, on the CPU."""

from __future__ import annotations

from exporters.openvino.backend import OpenVinoBackend

__all__ = ["OpenVinoBackend"]
