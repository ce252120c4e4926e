"""An audit as the comment of a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from testing.audit.record import Audit
from testing.audit.text import advice, totals
from testing.audit.verdicts import Finding, Verdict
from testing.reports.markdown import cell

__all__ = ["comment", "lines_of", "ran_with", "tables"]

_Row: TypeAlias = Sequence[str]

_HEAD: Final = ("scope", "class", "verdict", "seen")
_ROOM: Final = 60_000
"""Characters of tables; GitHub refuses a comment of more than 65,536."""


def comment(audit: Audit) -> str:
    """What asks for an edit as a table, all else folded away."""
    found = [f for verdict in Verdict for f in audit.of(verdict) if verdict.is_finding]
    others = [f for verdict in Verdict for f in audit.of(verdict) if not verdict.is_finding]
    blocks = [f"### Audit of {cell(audit.file.name)}", cell(totals(audit)) + "."]
    blocks += tables(_HEAD, map(_row, found), "Needed, and not run", map(_row, others))
    return "\n\n".join([*blocks, ran_with(audit.settings.repeat, audit.versions)])


def tables(
    head: Sequence[str], found: Iterable[_Row], others_title: str, others: Iterable[_Row]
) -> Iterator[str]:
    """What asks for an edit, then all else, which a reader has to open, as far as there is room.

    Args:
        head: Names of the columns.
        found: Rows of cells that are Markdown already.
        others_title: What the others are called.
        others: Rows of theirs.
    """
    room = _ROOM
    if shown := _table(head, found, room):
        room -= len(shown)
        yield shown
    if hidden := _table(head, others, room):
        yield f"<details><summary>{others_title}</summary>\n\n{hidden}\n\n</details>"


def _table(head: Sequence[str], rows: Iterable[_Row], room: int) -> str:
    """A table; its last row counts those for which there is no room. Empty without rows."""
    lines = [_line(row) for row in rows]
    count = sum(size <= room for size in accumulate(len(line) + 1 for line in lines))
    rest = [_line([f"… and {len(lines) - count} more", *[""] * (len(head) - 1)])]
    top = [_line(head), _line(["---"] * len(head))]
    return "\n".join([*top, *lines[:count], *rest[: len(lines) - count]]) if lines else ""


def _line(row: _Row) -> str:
    return f"| {' | '.join(row)} |"


def lines_of(texts: Iterable[str]) -> str:
    """Lines of text within one cell."""
    return "<br>".join(map(cell, texts))


def ran_with(repeat: int, versions: Mapping[str, str]) -> str:
    """How often each case was run, and with what."""
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"Each case {repeat} times; {cell(told)}."


def _row(finding: Finding) -> _Row:
    entry = finding.entry
    names = f"`{entry.where}`", f"`{entry.model_class}`"
    return *names, finding.verdict.value, lines_of(_told(finding))


def _told(finding: Finding) -> Iterator[str]:
    yield from finding.message.splitlines()
    yield from advice(finding)
