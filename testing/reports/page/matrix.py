"""Model classes by backend and variant, as the page shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from testing.faults import readable
from testing.reports.case import CaseKey, ReportedCase
from testing.reports.names import engine_of, variant_of
from testing.reports.page.mark import MARKS, cell_text
from testing.reports.report import Report

__all__ = ["Cell", "Column", "Matrix", "Row", "Type"]


@dataclass(frozen=True)
class Cell:
    """One case.

    Attributes:
        number: Of the case among those of the page.
        style: Its outcome, and whether it changed.
        mark: The shape that stands for it.
        text: What stands beside it.
        label: What a screen reader says for mark and text.
    """

    number: int
    style: str
    mark: str
    text: str
    label: str


@dataclass(frozen=True)
class Row:
    """One model class of one test class, with the cases of each column; mostly one."""

    name: str
    area: str
    cells: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Type:
    """A model type with its classes."""

    name: str
    rows: Sequence[Row]


@dataclass(frozen=True)
class Column:
    """Backend and variant."""

    engine: str
    variant: str


@dataclass(frozen=True)
class Matrix:
    """The whole table.

    Attributes:
        columns: In the order of the cells of a row.
        types: In the order of their names.
    """

    columns: Sequence[Column]
    types: Sequence[Type]

    @classmethod
    def of(cls, report: Report, numbers: Mapping[CaseKey, int]) -> Matrix:
        """The matrix of a report.

        Args:
            report: Its cases, in order.
            numbers: The number of each case on the page.
        """
        builder = _Builder(report, numbers)
        return cls(builder.columns, list(builder.types()))

    @property
    def engines(self) -> Sequence[str]:
        """Every engine once."""
        return sorted({column.engine for column in self.columns})

    @property
    def variants(self) -> Sequence[str]:
        """Every variant once."""
        return sorted({column.variant for column in self.columns})

    @property
    def areas(self) -> Sequence[str]:
        """Every area once."""
        return sorted({row.area for kind in self.types for row in kind.rows if row.area})


class _Builder:
    """Makes the rows of one report."""

    def __init__(self, report: Report, numbers: Mapping[CaseKey, int]) -> None:
        self.report = report
        self.numbers = numbers
        changes = report.comparison.changes if report.comparison else ()
        self.changed = {change.case.key for change in changes}
        found = sorted({(engine_of(c.result), variant_of(c.result)) for c in report.cases})
        self.columns = [Column(readable(engine), readable(variant)) for engine, variant in found]

    def types(self) -> Iterator[Type]:
        for name, cases in groupby(self.report.cases, key=_type_of):
            rows = groupby(cases, key=self.report.sweep.name_of)
            yield Type(name, [self._row(title, list(of_row)) for title, of_row in rows])

    def _row(self, name: str, cases: Sequence[ReportedCase]) -> Row:
        cells: dict[str, list[Cell]] = {}
        for case in cases:
            cells.setdefault(case.column, []).append(self._cell(case))
        found = [cells.get(f"{one.engine} {one.variant}", []) for one in self.columns]
        return Row(name, cases[0].area, found)

    def _cell(self, case: ReportedCase) -> Cell:
        outcome, text = case.result.outcome, readable(cell_text(case))
        is_changed = case.key in self.changed
        style = f"{outcome.value} changed" if is_changed else outcome.value
        words = [outcome.words, text, "changed" if is_changed else ""]
        label = " ".join(filter(None, words))
        return Cell(self.numbers[case.key], style, MARKS[outcome], text, label)


def _type_of(case: ReportedCase) -> str:
    return readable(case.result.model_type or "other")
