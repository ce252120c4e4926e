"""A report for a terminal, which shows last what is read first."""

from __future__ import annotations

from testing.reports.digest import Section, columns_of, sections
from testing.reports.report import Report
from testing.reports.tables import aligned, outcome_rows

__all__ = ["told"]


def told(report: Report) -> str:
    """The sections from the least to the most pressing, totals and the verdict."""
    blocks = [_block(section) for section in reversed(sections(report))]
    return "\n\n".join([aligned(outcome_rows(columns_of(report))), *blocks, report.verdict])


def _block(section: Section) -> str:
    lines = [f"  {subject}: {said}" if subject else f"  {said}" for subject, said in section.lines]
    if section.left_out:
        lines.append(f"  … and {section.left_out:,} more in the HTML report")
    return "\n".join([section.title, *lines])
