"""What an audit found, and its file, which `testing.registry.audits` reads."""

from __future__ import annotations

import datetime
import json
import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testing.audit.errors import AuditFileError
from testing.audit.settings import AuditSettings
from testing.audit.verdicts import AuditedCase, Finding, Verdict

__all__ = ["Audit", "now"]


@dataclass(frozen=True)
class Audit:
    """All that one audit found.

    Attributes:
        file: The audited file.
        findings: What was found of each entry, in the order of the file.
        settings: How cases were run.
        versions: What was installed.
        finished: When it ended, ISO 8601 in UTC.
        is_whole: False where it was interrupted.
    """

    file: Path
    findings: tuple[Finding, ...]
    settings: AuditSettings
    versions: Mapping[str, str]
    finished: str
    is_whole: bool = True

    @property
    def has_findings(self) -> bool:
        """Whether somebody has to edit the file."""
        return any(finding.verdict.is_finding for finding in self.findings)

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """How many entries have each verdict, without those that none has."""
        found = Counter(finding.verdict for finding in self.findings)
        return {verdict: found[verdict] for verdict in Verdict if found[verdict]}

    def of(self, verdict: Verdict) -> tuple[Finding, ...]:
        """The findings of one verdict."""
        return tuple(finding for finding in self.findings if finding.verdict is verdict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it."""
        return {
            "finished": self.finished,
            "complete": self.is_whole,
            "file": str(self.file),
            "versions": dict(self.versions),
            "settings": self.settings.to_dict(),
            "counts": {verdict.value: count for verdict, count in self.counts.items()},
            "entries": [_row(finding) for finding in self.findings],
        }

    def write(self, directory: Path) -> Path:
        """Write a file of its own, whole or not at all.

        Audits of other entries have theirs, so that none loses what another has found.

        Raises:
            AuditFileError: It cannot be written.
        """
        path = directory / f"{self.finished.replace(':', '')}-{os.getpid()}.json"
        text = json.dumps(self.to_dict(), indent=1)
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=directory, delete=False) as stream:
                stream.write(text)
            os.replace(stream.name, path)
        except OSError as error:
            raise AuditFileError(path, error) from error
        return path


def now() -> str:
    """The time, ISO 8601 in UTC."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")


def _row(finding: Finding) -> dict[str, Any]:
    entry = finding.entry
    return {
        "table": entry.table,
        "scope": str(entry.scope),
        "model_class": entry.model_class,
        "line": entry.line,
        "reason": entry.reason,
        "verdict": finding.verdict.value,
        "message": finding.message,
        "proposed_scope": " and ".join(map(str, finding.proposed)) or None,
        "changes": list(finding.changes),
        "cases": [_case(case) for case in finding.cases],
    }


def _case(case: AuditedCase) -> dict[str, Any]:
    return {
        "case": case.name,
        "state": case.state.value,
        "runs": [
            {"seed": a.seed, "result": a.result and json.loads(a.result.to_json())}
            for a in case.attempts
        ],
    }
