"""Tables of totals as rows of text."""

from __future__ import annotations

from collections.abc import Sequence

from testing.coverage.record import Coverage, Totals, totals_of
from testing.coverage.verdict import Kind
from testing.reports.tables import Rows, outcome_rows

__all__ = ["area_rows", "column_rows", "facts"]


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
    return outcome_rows(columns) if columns else []


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


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"
