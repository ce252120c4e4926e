"""A report as JUnit XML: a suite for each backend, a test case for each row of the results.

The properties of a test case are those that its row has of signal, exit code, op, operand and
source, and the metrics of each leaf, ``metrics.logits.max_abs``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Final
from xml.etree import ElementTree

from testing.faults import readable
from testing.reports.case import ReportedCase
from testing.reports.names import engine_of
from testing.reports.report import Report
from testing.reports.wording import headline, skip_text
from testing.results import CaseResult, Outcome

__all__ = ["document"]

_ELEMENTS: Final[Mapping[Outcome, str]] = {
    Outcome.FAILED: "failure",
    Outcome.XPASSED: "failure",
    Outcome.CRASHED: "error",
    Outcome.TIMEOUT: "error",
    Outcome.SKIPPED: "skipped",
    Outcome.NOT_APPLICABLE: "skipped",
    # Compiled and not run: nothing that a reader of passes may count as one.
    Outcome.EXPORTED: "skipped",
    Outcome.XFAILED: "skipped",
}
_COUNTED: Final = {"failures": "failure", "errors": "error", "skipped": "skipped"}
_PROPERTIES: Final = ("outcome", "stage", "signal", "exit_code", "op", "operand", "source")


def document(report: Report) -> str:
    """The XML, to be written in UTF-8, its rows in the report's order."""
    root = ElementTree.Element("testsuites", name="export-harness")
    cases = sorted(report.cases, key=_engine)
    for engine, of_engine in groupby(cases, key=_engine):
        root.append(_suite(engine, of_engine))
    _count(root, root.iter("testcase"))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _engine(case: ReportedCase) -> str:
    return readable(engine_of(case.result))


def _suite(engine: str, cases: Iterable[ReportedCase]) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=engine)
    for case in cases:
        suite.extend(_testcase(row, case) for row in case.rows)
    _count(suite, suite.iter("testcase"))
    return suite


def _count(element: ElementTree.Element, testcases: Iterable[ElementTree.Element]) -> None:
    """Declare what the rows are; they are counted, so that totals cannot disagree with them."""
    rows = list(testcases)
    element.set("tests", str(len(rows)))
    for attribute, child in _COUNTED.items():
        element.set(attribute, str(sum(row.find(child) is not None for row in rows)))
    element.set("time", f"{sum(float(row.get('time', '0')) for row in rows):.3f}")


def _testcase(row: CaseResult, case: ReportedCase) -> ElementTree.Element:
    host, _, test = row.case_id.rpartition("::")
    # The row that sums up components takes none of their time a second time.
    is_sum = bool(case.components) and row.component is None
    element = ElementTree.Element(
        "testcase",
        classname=readable(host.replace("/", ".").replace(".py::", ".")),
        name=readable(f"{test}[{row.component}]" if row.component else test),
        time="0.000" if is_sum else f"{row.total_seconds:.3f}",
    )
    properties = ElementTree.SubElement(element, "properties")
    for name, value in _properties(row):
        ElementTree.SubElement(properties, "property", name=name, value=value)
    if kind := _ELEMENTS.get(row.outcome):
        ElementTree.SubElement(element, kind, _told(row)).text = readable(row.message or "")
    return element


def _told(row: CaseResult) -> dict[str, str]:
    if row.outcome.is_failure:
        return {"message": headline(row), "type": row.outcome.value}
    return {"message": skip_text(row)}


def _properties(row: CaseResult) -> Iterator[tuple[str, str]]:
    values = {**dataclasses.asdict(row), "outcome": row.outcome.value}
    for name in _PROPERTIES:
        if values[name] is not None:
            yield name, readable(str(values[name]))
    for leaf, figures in values["metrics"].items():
        for name, value in figures.items():
            if value is not None:
                yield readable(f"metrics.{leaf}.{name}"), str(value)
