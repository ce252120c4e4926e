"""Errors of driving exported programs."""

from __future__ import annotations

__all__ = ["CannotGenerateError", "LoopError"]


class LoopError(RuntimeError):
    """What `generate` hands to a step is not what the program of that step was traced with."""


class CannotGenerateError(RuntimeError):
    """`generate` of the model itself does not give what a loop needs, before any export."""
