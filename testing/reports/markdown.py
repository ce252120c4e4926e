"""A report as the step summary of a CI run, of which GitHub shows at most 1 MB."""

from __future__ import annotations

import re
from typing import Final

from testing.faults import readable
from testing.reports.digest import Section, columns_of, sections, sentence
from testing.reports.report import Report
from testing.reports.tables import outcome_rows, piped

__all__ = ["cell", "page"]

_SPECIAL: Final = re.compile(r"[\\`*_~|\[\]#$]")
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def page(report: Report) -> str:
    """The whole page; sections are as short as in the terminal."""
    verdict = cell(f"{sentence(report.verdict)}.")
    versions = ", ".join(f"{name} {version}" for name, version in report.sweep.versions.items())
    blocks = [f"### {verdict}", piped(_totals(report)), *map(_section, sections(report))]
    return "\n\n".join([*blocks, cell(f"Ran with {versions}.")]) + "\n"


def cell(text: str) -> str:
    """Text that Markdown shows as it is, on one line, in a cell of a table or anywhere else."""
    line = " ".join(readable(text).split())
    for character, entity in _ENTITIES.items():
        line = line.replace(character, entity)
    # A word joiner keeps GitHub from telling a person who is called like a decorator.
    return _SPECIAL.sub(r"\\\g<0>", line).replace("@", "@\u2060")


def _totals(report: Report) -> list[list[str]]:
    return [[cell(value) for value in row] for row in outcome_rows(columns_of(report))]


def _section(section: Section) -> str:
    rows = [f"| {cell(subject)} | {cell(said)} |" for subject, said in section.lines]
    lines = [f"#### {cell(section.title)}", "", "| | |", "| --- | --- |", *rows]
    if section.left_out:
        lines += ["", f"… and {section.left_out:,} more in the HTML report."]
    return "\n".join(lines)
