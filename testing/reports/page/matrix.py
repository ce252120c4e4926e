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
        outcome: As `results.jsonl` has it.
        mark: The shape that stands for it.
        text: What stands beside it.
        label: What a screen reader says.
    """

    number: int
    outcome: str
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
        found = sorted({(engine_of(c.result), variant_of(c.result)) for c in report.cases})
        columns = [Column(readable(engine), readable(variant)) for engine, variant in found]
        return cls(columns, list(_types(report, columns, numbers)))

    @property
    def engines(self) -> Sequence[tuple[str, int]]:
        """Each engine with the number of its columns."""
        groups = groupby(self.columns, key=lambda column: column.engine)
        return [(engine, len(list(columns))) for engine, columns in groups]

    @property
    def variants(self) -> Sequence[str]:
        """Every variant once."""
        return sorted({column.variant for column in self.columns})

    @property
    def areas(self) -> Sequence[str]:
        """Every area once."""
        return sorted({row.area for kind in self.types for row in kind.rows if row.area})


def _types(
    report: Report, columns: Sequence[Column], numbers: Mapping[CaseKey, int]
) -> Iterator[Type]:
    for name, cases in groupby(report.cases, key=_type_of):
        rows = groupby(cases, key=report.sweep.name_of)
        yield Type(name, [_row(title, list(of_row), columns, numbers) for title, of_row in rows])


def _type_of(case: ReportedCase) -> str:
    return readable(case.result.model_type or "other")


def _row(
    name: str,
    cases: Sequence[ReportedCase],
    columns: Sequence[Column],
    numbers: Mapping[CaseKey, int],
) -> Row:
    cells: dict[str, list[Cell]] = {}
    for case in cases:
        cells.setdefault(case.column, []).append(_cell(name, case, numbers[case.key]))
    found = [cells.get(f"{one.engine} {one.variant}", []) for one in columns]
    return Row(name, cases[0].area, found)


def _cell(name: str, case: ReportedCase, number: int) -> Cell:
    outcome = case.result.outcome
    text = readable(cell_text(case))
    words = " ".join(part for part in (outcome.value.replace("_", " "), text) if part)
    return Cell(number, outcome.value, MARKS[outcome], text, f"{name}, {case.column}: {words}")
