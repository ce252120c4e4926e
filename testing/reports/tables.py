"""Tables of text, as a terminal and as Markdown write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from testing.results import Outcome

__all__ = ["Rows", "aligned", "outcome_rows", "piped"]

Rows: TypeAlias = Sequence[Sequence[str]]
"""A header, then the rows; names in the first column, figures in the others."""


def outcome_rows(columns: Mapping[str, Mapping[Outcome, int]]) -> Rows:
    """How many cases of each backend and variant ended in what; the outcomes that there are."""
    shown = [o for o in Outcome if any(found.get(o) for found in columns.values())]
    header = ["exported with", *(o.words for o in shown), "all"]
    rows = [
        [column, *(str(found.get(o, 0)) for o in shown), str(sum(found.values()))]
        for column, found in columns.items()
    ]
    return [header, *rows]


def aligned(rows: Rows) -> str:
    """A table for a terminal: names to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *figures = zip(row, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(f.rjust(width) for f, width in figures)])


def piped(rows: Rows, texts: int = 1) -> str:
    """A table in Markdown: `texts` columns to the left, and figures to the right."""
    header, *body = rows
    rule = [*("---" for _ in header[:texts]), *("---:" for _ in header[texts:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *body))
