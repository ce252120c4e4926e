"""Tables of totals as rows of text, and how text and Markdown write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from testing.coverage.record import Coverage, Totals, totals_of
from testing.coverage.verdict import Kind
from testing.results import Outcome

__all__ = ["Rows", "aligned", "area_rows", "column_rows", "facts", "piped"]

Rows: TypeAlias = Sequence[Sequence[str]]


def area_rows(coverage: Coverage) -> Rows:
    """Totals of each area and of all: a header, then a row each."""
    by_area = {area: totals_of(records) for area, records in coverage.by_area().items()}
    everything = totals_of(coverage.records)
    kinds = [kind for kind in Kind if everything.kinds.get(kind)]
    header = ["area", "classes", "with test", *(kind.value for kind in kinds)]
    rows = [_row(area, totals, kinds) for area, totals in by_area.items()]
    return [header, *rows, _row("all", everything, kinds)]


def _row(name: str, totals: Totals, kinds: Sequence[Kind]) -> list[str]:
    figures = [totals.classes, totals.tested, *(totals.kinds.get(kind, 0) for kind in kinds)]
    return [name, *map(str, figures)]


def column_rows(coverage: Coverage) -> Rows:
    """Outcomes of the sweep, a row a backend and variant; none without results."""
    columns = coverage.by_column()
    if not columns:
        return []
    shown = [o for o in Outcome if any(found.get(o) for found in columns.values())]
    header = ["exported with", *(o.value.replace("_", " ") for o in shown), "all"]
    rows = [
        [column, *(str(found.get(o, 0)) for o in shown), str(sum(found.values()))]
        for column, found in columns.items()
    ]
    return [header, *rows]


def facts(coverage: Coverage) -> list[str]:
    """Figures over all classes, one sentence each; none where nothing was examined."""
    if not coverage.is_examined:
        return []
    totals = totals_of(coverage.records)
    covered = totals.kinds.get(Kind.COVERED, 0)
    return [
        f"{covered} of the {totals.reachable} classes that can be run here are covered"
        f" ({_share(covered, totals.reachable)}).",
        f"{totals.constant} of {totals.leaves} floating output leaves are near-constant"
        f" ({_share(totals.constant, totals.leaves)}).",
        f"{totals.tamed} classes run with a flag that is not transformers' default.",
        f"{totals.large} classes are beyond the limits of a tiny model.",
    ]


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


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"
