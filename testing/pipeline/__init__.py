"""One case from preparation to verdict; imported in the child only."""

from __future__ import annotations

from testing.pipeline.case import run
from testing.pipeline.clock import STAGES

__all__ = ["STAGES", "run"]
