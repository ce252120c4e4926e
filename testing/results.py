"""The result of one case, as it is written to ``results.jsonl``."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from testing.cases import ExportCase
from testing.plain import plain

__all__ = [
    "CHANGED_FLAG",
    "COLLECTION",
    "PROVES_NOTHING",
    "RUNTIME_LIMIT",
    "CaseResult",
    "LeafMetrics",
    "Outcome",
]

PROVES_NOTHING: Final = "Proves nothing: "
"""How a message begins the line that says why a pass has nothing to show."""

CHANGED_FLAG: Final = "Note: not as transformers has it: "
"""How a message begins a line on a flag of the model that was changed."""

RUNTIME_LIMIT: Final = "runtime limit: "
"""How the reason of a skip begins where a runtime could not run what was exported rightly."""

COLLECTION: Final = "collection"
"""What stands in place of the backend in the row of a module that cannot be collected."""


class Outcome(str, Enum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    SKIPPED = "skipped"
    NOT_APPLICABLE = "not_applicable"
    EXPORTED = "exported"
    XFAILED = "xfailed"
    XPASSED = "xpassed"

    @property
    def is_failure(self) -> bool:
        """Whether a run with this outcome must not end in success."""
        return self in (Outcome.FAILED, Outcome.CRASHED, Outcome.TIMEOUT, Outcome.XPASSED)

    @property
    def words(self) -> str:
        """The outcome as a person reads it, ``not applicable``."""
        return self.value.replace("_", " ")


@dataclass(frozen=True)
class LeafMetrics:
    """How far one output leaf is from eager, over every compared element, in float64.

    Attributes:
        max_abs: Largest absolute difference.
        max_rel: Largest difference relative to eager's value.
        cosine: Cosine similarity; None where either side has no norm.
        pearson: Pearson correlation; None where either side is constant.
        mismatched: Share of elements outside the tolerance, 0 to 1.
        tolerance_used: Largest difference as a share of what its element was allowed, above 1
            where the element is outside; None where none is allowed, and in older journals.
    """

    max_abs: float
    max_rel: float
    cosine: float | None
    pearson: float | None
    mismatched: float
    tolerance_used: float | None = None


@dataclass
class CaseResult:
    """One row of ``results.jsonl``; absent values are None. See the README for the columns.

    What is exported in components has their results in `components` while it is in memory; in a
    journal each is a row of its own.
    """

    case_id: str
    model_type: str | None
    model_class: str
    backend: str
    runtime: str | None
    variant: str
    generate: bool
    static_cache: bool
    outcome: Outcome
    component: str | None = None
    attempt: int = 1
    retried: bool = False
    deaths: list[str] = field(default_factory=list)
    stage: str | None = None
    signal: str | None = None
    exit_code: int | None = None
    op: str | None = None
    operand: str | None = None
    op_source: str | None = None
    source: str | None = None
    stack: list[str] = field(default_factory=list)
    baked_reads: list[str] = field(default_factory=list)
    message: str | None = None
    scope: str | None = None
    reason: str | None = None
    patches: list[str] = field(default_factory=list)
    lowerings: list[str] = field(default_factory=list)
    metrics: dict[str, LeafMetrics] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    peak_rss_mb: float | None = None
    versions: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)
    components: list[CaseResult] = field(default_factory=list)

    @property
    def is_flaky(self) -> bool:
        """Whether the case died in one try and not in the last."""
        return bool(self.deaths) and self.outcome is not Outcome.CRASHED

    @property
    def is_runtime_limit(self) -> bool:
        """Whether a runtime could not run what was exported rightly."""
        return self.outcome is Outcome.SKIPPED and (self.reason or "").startswith(RUNTIME_LIMIT)

    @property
    def total_seconds(self) -> float:
        """All stages together; what is no number is left out."""
        return sum(value for value in self.seconds.values() if math.isfinite(value))

    @classmethod
    def of(cls, case: ExportCase, case_id: str, outcome: Outcome, **values: Any) -> CaseResult:
        """A result of `case`, with `values` for the remaining columns."""
        return cls(
            case_id=case_id,
            model_type=case.model_type,
            model_class=case.model_class,
            backend=case.backend,
            runtime=case.runtime or case.delegate,
            variant=case.variant,
            generate=case.generate,
            static_cache=case.static_cache,
            outcome=outcome,
            **values,
        )

    def to_json(self) -> str:
        """One line of JSON; figures that JSON has no number for become strings."""
        return json.dumps(self.to_row(), ensure_ascii=True, allow_nan=False)

    def to_row(self) -> dict[str, Any]:
        """What JSON carries of it; a row of a journal has no components."""
        row: dict[str, Any] = plain(dataclasses.asdict(dataclasses.replace(self, components=[])))
        del row["components"]
        if self.components:
            row["components"] = [component.to_row() for component in self.components]
        return row

    @classmethod
    def from_json(cls, line: str) -> CaseResult:
        """Read a line that `to_json` wrote; columns of newer versions are ignored.

        Raises:
            ValueError: The line is no result.
        """
        row = json.loads(line)
        if not isinstance(row, dict) or "case_id" not in row:
            raise ValueError(f"not a result: {line[:80]!r}")
        return cls.from_row(row)

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> CaseResult:
        """The inverse of `to_row`."""
        known = {f.name for f in dataclasses.fields(cls)}
        row = {name: value for name, value in row.items() if name in known}
        row["outcome"] = Outcome(row["outcome"])
        row["metrics"] = {
            leaf: _metrics_from(values) for leaf, values in row.get("metrics", {}).items()
        }
        row["seconds"] = {stage: float(value) for stage, value in row.get("seconds", {}).items()}
        row["components"] = [cls.from_row(part) for part in row.get("components", [])]
        return cls(**row)


def _metrics_from(values: dict[str, Any]) -> LeafMetrics:
    figures: dict[str, Any] = {k: v if v is None else float(v) for k, v in values.items()}
    return LeafMetrics(**figures)
