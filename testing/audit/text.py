"""An audit as a person reads it on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from testing.audit.record import Audit
from testing.audit.verdicts import Finding, Verdict
from testing.registry.audits import OTHER_CAUSE

__all__ = ["advice", "summary", "totals"]


def summary(audit: Audit) -> str:
    """Each entry with its verdict, what asks for an edit first, and totals."""
    blocks = [
        "\n".join(_lines(audit.file, finding))
        for verdict in Verdict
        for finding in audit.of(verdict)
    ]
    return "\n".join([*blocks, totals(audit)])


def totals(audit: Audit) -> str:
    """``3 stale, 1 needed``, and what to do."""
    counted = ", ".join(f"{count} {verdict.value}" for verdict, count in audit.counts.items())
    parts = [counted or "no entries"]
    if not audit.is_whole:
        parts.append("interrupted: run it again, and it goes on")
    if audit.of(Verdict.STALE):
        parts.append("`export-harness skips prune` shows what would go")
    return "; ".join(parts)


def advice(finding: Finding) -> Iterator[str]:
    """What of a finding asks for an edit, a sentence each."""
    if finding.proposed:
        yield f"{' and '.join(map(str, finding.proposed))} would do"
    elif finding.verdict is Verdict.TOO_BROAD:
        yield "no scope tells the cases that fail from those that pass"
    for change in finding.changes:
        yield f"{OTHER_CAUSE}: {change}"


def _lines(file: Path, finding: Finding) -> Iterator[str]:
    entry = finding.entry
    yield f"{file}:{entry.line}: {entry.where} {entry.model_class}: {finding.verdict.value}"
    yield from (f"    {line}" for line in finding.message.splitlines())
    yield from (f"    {line}" for line in advice(finding))
