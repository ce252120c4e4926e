"""ExecuTorch and its delegates."""

from __future__ import annotations

from exporters.executorch.backend import ExecutorchBackend

__all__ = ["ExecutorchBackend"]
