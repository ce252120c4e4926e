"""An audit as the comment of a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from testing.audit.record import Audit
from testing.audit.text import advice, totals
from testing.audit.verdicts import Finding, Verdict

__all__ = ["comment"]


def comment(audit: Audit) -> str:
    """What asks for an edit as a table, all else folded away."""
    versions = ", ".join(f"{name} {version}" for name, version in audit.versions.items())
    found = [f for verdict in Verdict for f in audit.of(verdict) if verdict.is_finding]
    others = [f for verdict in Verdict for f in audit.of(verdict) if not verdict.is_finding]
    blocks = [f"### Audit of {_cell(audit.file.name)}", _cell(totals(audit)) + "."]
    blocks += [_table(found)] if found else []
    blocks += [_folded("Needed, and not run", _table(others))] if others else []
    return "\n\n".join([*blocks, f"Each case {audit.settings.repeat} times; {_cell(versions)}."])


def _table(findings: list[Finding]) -> str:
    head = ["| scope | class | verdict | seen |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *map(_row, findings)])


def _row(finding: Finding) -> str:
    entry = finding.entry
    name, verdict = f"`{entry.model_class}`", finding.verdict.value
    seen = "<br>".join(map(_cell, _told(finding)))
    return f"| `{entry.where}` | {name} | {verdict} | {seen} |"


def _told(finding: Finding) -> Iterator[str]:
    yield from finding.message.splitlines()
    yield from advice(finding)


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _cell(text: str) -> str:
    """Text that a cell of a table shows as it is, on one line; names in backticks stay code."""
    escaped = re.sub(r"[\\<>*|]|(?<!\w)_|_(?!\w)", r"\\\g<0>", " ".join(text.split()))
    return escaped.replace("@", "@\u2060")
