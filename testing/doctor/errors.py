"""What keeps a model from being diagnosed."""

from __future__ import annotations

__all__ = ["DoctorError"]


class DoctorError(Exception):
    """There is nothing to diagnose or nothing to diagnose it with; the message says why."""
