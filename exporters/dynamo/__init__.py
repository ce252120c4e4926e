"""torch.export, and its programs in PyTorch."""

from __future__ import annotations

from exporters.dynamo.backend import DynamoBackend

__all__ = ["DynamoBackend"]
