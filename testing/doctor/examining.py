"""Examines one model in children: with the trace patches that it needs, and without."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from exporters.base import OpStatus
from testing import json_lines
from testing.checkpoint.source import Source
from testing.doctor.findings import Findings, use_from
from testing.doctor.target import TARGET
from testing.execution.endings import last_words, model_line
from testing.isolation import ChildReport, Ending, Task

__all__ = ["DoctorRequest", "Runner", "examine"]


class Runner(Protocol):
    """What runs a task in a child, as `ForkServer` does."""

    def run(self, task: Task) -> ChildReport:
        """Run it and say how it ended."""


@dataclass(frozen=True)
class DoctorRequest:
    """What is examined and how.

    Attributes:
        name: Name of the class, or of the checkpoint.
        backend: Name of the backend.
        checkpoint: Where the checkpoint is; None for the tiny model of a class.
        sketch: Whether code to start from is wanted.
        time_limit: Seconds for each of the two examinations.
    """

    name: str
    backend: str
    checkpoint: Source | None = None
    sketch: bool = False
    time_limit: float = 1000.0


def examine(request: DoctorRequest, runner: Runner) -> Findings:
    """What becomes of every op of a model, also of one that kills its process."""
    found = _examined(request, runner, "on")
    if not found.patches:
        return found
    plain = _examined(request, runner, "off")
    # What a patch mends is known by what is gone.
    left = {(use.op, use.source) for use in found.uses}
    names = ", ".join(found.patches)
    mended = tuple(
        replace(use, status=OpStatus.PATCHED, remedy=names)
        for use in plain.marked
        if (use.op, use.source) not in left
    )
    return replace(found, uses=found.uses + mended)


def _examined(request: DoctorRequest, runner: Runner, patches: str) -> Findings:
    with tempfile.TemporaryDirectory(prefix="doctor-") as directory:
        log = Path(directory) / "uses.jsonl"
        payload = {
            "backend": request.backend,
            "model_class": request.name,
            "checkpoint": request.checkpoint.to_dict() if request.checkpoint else None,
            "patches": patches,
            "log": str(log),
            "sketch": request.sketch,
        }
        report = runner.run(Task(TARGET, payload, request.time_limit))
        return _findings(request, report, log)


def _findings(request: DoctorRequest, report: ChildReport, log: Path) -> Findings:
    if report.ending is Ending.RESULT:
        return _reported(report.result)
    if report.stage != "diagnose":
        return Findings(request.name, obstacle=_how(report))
    # What it had seen before it died.
    uses = tuple(map(use_from, json_lines.rows(log)))
    return Findings(request.name, uses=uses, error=_how(report), source=model_line(report))


def _reported(row: Mapping[str, Any]) -> Findings:
    return Findings.from_dict({"obstacle": None, **row})


def _how(report: ChildReport) -> str:
    if report.error is not None:
        return f"{report.error.kind}: {report.error.message}"
    how = f"{report.ending.value} ({report.signal})" if report.signal else report.ending.value
    words = last_words(report)
    return f"the process {how}{f': {words}' if words else ''}"
