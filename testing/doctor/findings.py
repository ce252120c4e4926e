"""What was found of one model; it crosses from a child as JSON, and stands in a journal."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from exporters.base import OpStatus, OpUse
from testing.doctor.advice import advice

__all__ = ["Findings", "use_from"]


@dataclass(frozen=True)
class Findings:
    """All that is known of one model.

    Attributes:
        model: Its class.
        model_type: transformers' type of it.
        uses: What becomes of each op, what ends the trace first.
        patches: Trace patches that are applied to it.
        error: What its forward raised, or how the process died; the ops behind are not known.
        source: ``file.py:line`` of that.
        obstacle: Why nothing is known; None where something is.
        sketches: Code to start from, by op; where it was asked for.
    """

    model: str
    model_type: str | None = None
    uses: tuple[OpUse, ...] = ()
    patches: tuple[str, ...] = ()
    error: str | None = None
    source: str | None = None
    obstacle: str | None = None
    sketches: Mapping[str, str] = field(default_factory=dict)

    @property
    def fails(self) -> bool:
        """Whether its trace ends before its forward does."""
        return self.error is not None or any(use.is_fatal for use in self.uses)

    @property
    def marked(self) -> tuple[OpUse, ...]:
        """The uses of which a reader may want to know: all that are not simply lowered."""
        return tuple(use for use in self.uses if use.status is not OpStatus.LOWERED)

    @property
    def lowered(self) -> Mapping[str, int]:
        """How often each op ran that XLA lowers by itself."""
        return {use.op: use.count for use in self.uses if use.status is OpStatus.LOWERED}

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it."""
        uses = [_row(use) for use in self.uses]
        return {**dataclasses.asdict(self), "uses": uses, "fails": self.fails}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Findings:
        """The inverse of `to_dict`."""
        known = {f.name: row[f.name] for f in dataclasses.fields(cls)}
        uses = tuple(map(use_from, row["uses"]))
        return cls(**{**known, "uses": uses, "patches": tuple(row["patches"])})


def use_from(row: Mapping[str, Any]) -> OpUse:
    """A use from its fields as JSON has them; others are passed over."""
    known = {f.name: _tuple(row[f.name]) for f in dataclasses.fields(OpUse)}
    return OpUse(**{**known, "status": OpStatus(row["status"])})


def _row(use: OpUse) -> dict[str, Any]:
    known = {**dataclasses.asdict(use), "status": use.status.value}
    return {**known, "fatal": use.is_fatal, "advice": advice(use)}


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else value
