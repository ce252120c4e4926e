"""One case from preparation to verdict; imported in the child only."""

from __future__ import annotations

from testing.pipeline.stages import STAGES, run

__all__ = ["STAGES", "run"]
