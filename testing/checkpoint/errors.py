"""What keeps a checkpoint from being loaded."""

from __future__ import annotations

__all__ = ["CheckpointError"]


class CheckpointError(Exception):
    """There is no checkpoint, or not one of the class that is asked for; the message says why."""
