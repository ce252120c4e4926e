"""Run a case in a child or in process, and turn whatever happens into its result."""

from __future__ import annotations

from testing.execution.runner import execute

__all__ = ["execute"]
