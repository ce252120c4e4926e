"""An audit as the comment of a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from testing.audit.record import Audit
from testing.audit.text import advice, totals
from testing.audit.verdicts import Finding, Verdict
from testing.reports.markdown import cell

__all__ = ["comment", "folded", "lines_of", "ran_with", "table"]

_HEAD = ("scope", "class", "verdict", "seen")


def comment(audit: Audit) -> str:
    """What asks for an edit as a table, all else folded away."""
    found = [f for verdict in Verdict for f in audit.of(verdict) if verdict.is_finding]
    others = [f for verdict in Verdict for f in audit.of(verdict) if not verdict.is_finding]
    blocks = [f"### Audit of {cell(audit.file.name)}", cell(totals(audit)) + "."]
    blocks += [table(_HEAD, map(_row, found))] if found else []
    blocks += [folded("Needed, and not run", table(_HEAD, map(_row, others)))] if others else []
    return "\n\n".join([*blocks, ran_with(audit.settings.repeat, audit.versions)])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    rule = ["---"] * len(head)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def folded(title: str, text: str) -> str:
    """What a reader has to open."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def lines_of(texts: Iterable[str]) -> str:
    """Lines of text within one cell."""
    return "<br>".join(map(cell, texts))


def ran_with(repeat: int, versions: Mapping[str, str]) -> str:
    """How often each case was run, and with what."""
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"Each case {repeat} times; {cell(told)}."


def _row(finding: Finding) -> Sequence[str]:
    entry = finding.entry
    names = f"`{entry.where}`", f"`{entry.model_class}`"
    return *names, finding.verdict.value, lines_of(_told(finding))


def _told(finding: Finding) -> Iterator[str]:
    yield from finding.message.splitlines()
    yield from advice(finding)
