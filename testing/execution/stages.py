"""Who hears of the stages of a case while it runs."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

__all__ = ["listener"]

listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)
"""Called with each stage of the cases that this thread runs."""
