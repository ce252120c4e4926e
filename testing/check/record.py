"""What was found of one checkpoint."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from testing.patches.inspecting import Inspection
from testing.results import CaseResult, Outcome

__all__ = ["Check", "Description"]


@dataclass(frozen=True)
class Description:
    """What the checkpoint is.

    Attributes:
        model_class: The class that it was loaded as.
        model_type: transformers' type of it.
        dtype: Of its weights.
        weights_mb: Their size in MiB, each counted once.
        inputs: Where the inputs come from.
    """

    model_class: str
    model_type: str
    dtype: str
    weights_mb: float
    inputs: str


@dataclass(frozen=True)
class Check:
    """All that one check found.

    Attributes:
        checkpoint: Its directory or id.
        description: What it is.
        before: How the case ends without patches and lowerings.
        after: How it ends with them.
        inspection: The patched model against the unpatched one, on the CPU.
    """

    checkpoint: str
    description: Description
    before: CaseResult
    after: CaseResult
    inspection: Inspection

    @property
    def is_well(self) -> bool:
        """Whether it is traced right, by patches that change nothing."""
        passed = self.after.outcome is Outcome.PASSED
        return passed and self.inspection.is_inert and self.inspection.error is None

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it."""
        return {
            "checkpoint": self.checkpoint,
            **dataclasses.asdict(self.description),
            "well": self.is_well,
            "before": self.before.to_row(),
            "after": self.after.to_row(),
            "patched": dataclasses.asdict(self.inspection),
        }
