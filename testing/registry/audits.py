"""What audits have found of entries: JSON files of a directory, a file an audit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from testing.registry.skip_file import Entry

__all__ = ["DEFAULT_AUDITS", "NOT_RUN", "OTHER_CAUSE", "AuditFinding", "Audits"]

DEFAULT_AUDITS: Final = Path("build", "audit")
"""Below the working directory, as the results of runs are."""

NOT_RUN: Final = "not run"
"""Verdict on an entry that could not be run there."""
OTHER_CAUSE: Final = "another cause than the reason names"
"""What a person is told where the verdict is ``changed``."""


@dataclass(frozen=True)
class AuditFinding:
    """What one audit found of one entry.

    Attributes:
        table: Table of the entry.
        scope: Its scope.
        model_class: Its class.
        verdict: ``stale``, ``needed``, ``flaky``, ``too broad``, ``changed`` or ``not run``.
        message: What was seen: how often it passed, the stage, the op, the signal.
        proposed_scope: The narrower scope that would do, where it is too broad.
        changes: In what the failures differ from the reason.
        finished: When the audit ended, ISO 8601 in UTC.
        versions: What was installed.
        settings: How its cases were run, such as ``trace_patches``.
        reason: The reason that the entry had; None where that was not recorded.
    """

    table: str
    scope: str
    model_class: str
    verdict: str
    message: str = ""
    proposed_scope: str | None = None
    changes: tuple[str, ...] = ()
    finished: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None

    def is_of(self, entry: Entry) -> bool:
        """Whether it is about an entry: table, scope, class and reason are the same."""
        if self.reason not in (None, entry.reason):
            return False  # the entry has been written anew since
        key = (entry.table, str(entry.scope), entry.model_class)
        return key == (self.table, self.scope, self.model_class)


@dataclass(frozen=True)
class Audits:
    """Every finding of a directory.

    Attributes:
        findings: The latest first.
        unreadable: Files that hold no audit, each with what is wrong.
    """

    findings: tuple[AuditFinding, ...] = ()
    unreadable: tuple[str, ...] = ()

    @classmethod
    def read(cls, directory: Path = DEFAULT_AUDITS) -> Audits:
        """Read ``*.json`` of a directory, which need not be there.

        A file is ``{"finished": …, "versions": {…}, "settings": {…}, "entries": [{"table": …,
        "scope": …, "model_class": …, "verdict": …, "message": …, "proposed_scope": …}, …]}``;
        whatever else it has is left aside.
        """
        findings: list[AuditFinding] = []
        unreadable: list[str] = []
        for file in sorted(directory.glob("*.json")):
            try:
                findings += _findings(json.loads(file.read_bytes()))
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                unreadable.append(f"{file}: {type(error).__name__}: {error}")
        findings.sort(key=lambda finding: finding.finished, reverse=True)
        return cls(tuple(findings), tuple(unreadable))

    def last_of(self, entry: Entry) -> AuditFinding | None:
        """What the last audit that could run an entry found of it, else that none could."""
        found = [finding for finding in self.findings if finding.is_of(entry)]
        return next((f for f in found if f.verdict != NOT_RUN), next(iter(found), None))


def _findings(audit: Mapping[str, Any]) -> Iterator[AuditFinding]:
    for row in audit["entries"]:
        yield AuditFinding(
            table=row["table"],
            scope=row["scope"],
            model_class=row["model_class"],
            verdict=row["verdict"],
            message=row.get("message") or "",
            proposed_scope=row.get("proposed_scope"),
            changes=tuple(row.get("changes") or ()),
            finished=audit["finished"],
            versions=dict(audit.get("versions") or {}),
            settings=dict(audit.get("settings") or {}),
            reason=row.get("reason"),
        )
