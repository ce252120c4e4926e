"""How far an audit is: a line for each run, on standard error."""

from __future__ import annotations

import sys
from typing import TextIO

from testing.audit.auditing import Progress
from testing.reports.names import column_of
from testing.results import CaseResult
from testing.settings import CaseRequest

__all__ = ["told_to"]


def told_to(stream: TextIO | None = None) -> Progress:
    """Writes a line for each run that ended."""

    def told(request: CaseRequest, result: CaseResult, number: int, total: int) -> None:
        out = stream or sys.stderr
        name = f"{result.model_class} {column_of(result)} seed {request.seed}"
        out.write(f"[{number}/{total}] {name}: {result.outcome.value}\n")
        out.flush()

    return told
