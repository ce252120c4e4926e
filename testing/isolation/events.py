"""What a child reports while it lives: lines of JSON, of which the last may be torn."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

__all__ = ["Events"]

_MOST_EVENTS: Final = 64 * 1024 * 1024


class Events:
    """What the child reports: stages, parts of its result, and at the end a result or an error.

    Attributes:
        stages: Each stage that began, with when.
        parts: Parts of its result that were ready before the end.
        final: The event with the result or the error, once it is here.
        invalid: The beginning of the first line that is no event.
        is_over: Whether what comes from now on does not count.
    """

    def __init__(self, on_stage: Callable[[str], None] | None) -> None:
        self.stages: list[tuple[str, float]] = []
        self.parts: list[Any] = []
        self.final: dict[str, Any] | None = None
        self.invalid: str | None = None
        self.is_over = False
        self._on_stage = on_stage
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Take the next part of what the child writes."""
        if self.is_over:
            return
        self._buffer += data
        if b"\n" in data:
            *lines, rest = self._buffer.split(b"\n")
            self._buffer = bytearray(rest)
            for line in lines:
                self._take(bytes(line))
        elif len(self._buffer) > _MOST_EVENTS:
            self._refuse(bytes(self._buffer))
            self._buffer.clear()

    def finish(self) -> None:
        """Refuse what is left, a line that the child did not live to end."""
        if self._buffer:
            self._refuse(bytes(self._buffer))

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            self._refuse(line)
            return
        if not isinstance(event, dict):
            self._refuse(line)
        elif "stage" in event:
            self._enter(str(event["stage"]), float(event["at"]))
        elif "part" in event:
            self.parts.append(event["part"])
        elif {"result", "error"} & event.keys() and self.final is None:
            self.final = event
        else:
            self._refuse(line)

    def _enter(self, stage: str, at: float) -> None:
        self.stages.append((stage, at))
        if self._on_stage is not None:
            self._on_stage(stage)

    def _refuse(self, line: bytes) -> None:
        if self.invalid is None:
            self.invalid = line[:200].decode("utf-8", errors="backslashreplace")

    def seconds(self, end: float) -> dict[str, float]:
        """Seconds in each stage; one that is entered twice has the sum."""
        spent: dict[str, float] = {}
        ends = [at for _, at in self.stages[1:]] + [end]
        for (stage, start), stop in zip(self.stages, ends, strict=False):
            spent[stage] = spent.get(stage, 0.0) + max(0.0, stop - start)
        return {stage: round(seconds, 4) for stage, seconds in spent.items()}
