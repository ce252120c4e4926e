"""All that is known of each case, as the page's script reads it when a case is opened."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Final

from testing.faults import readable
from testing.reports.case import CaseKey, ReportedCase
from testing.reports.names import engine_of, variant_of
from testing.reports.page.mark import MARKS
from testing.reports.report import Report
from testing.reports.wording import headline, rerun_command
from testing.results import CaseResult, LeafMetrics
from testing.settings import RunSettings

__all__ = ["embedded"]

# Told in places of their own; what a result has beside is listed by the name of its column.
_TOLD: Final = frozenset(
    {
        *("case_id", "component", "attempt", "retried", "outcome", "message", "reason", "deaths"),
        *("model_class", "backend", "runtime", "variant", "generate", "static_cache"),
        *("metrics", "seconds", "versions"),
    }
)
_FIGURES: Final = tuple(one.name for one in dataclasses.fields(LeafMetrics))
_CORRELATIONS: Final = ("cosine", "pearson")
# The sweep's tests are marked slow.
_SETTINGS: Final = RunSettings(slow=True)
_ESCAPES: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def embedded(report: Report, numbers: Mapping[CaseKey, int], limit: int) -> str:
    """JSON that may stand in a script element as it is: no tag ends in it, all is ASCII.

    Args:
        report: Its cases, and those that vanished.
        numbers: The number of each; they are written in this order.
        limit: Characters that are kept of a text.
    """
    changes = report.comparison.changes if report.comparison else ()
    cases = {change.case.key: change.case for change in changes} | dict(report.sweep.cases)
    versions: dict[str, int] = {}
    rows = [_row(report, cases[key], limit, versions) for key in numbers]
    for change in changes:
        said = [change.kind.value, readable(change.said, limit)]
        rows[numbers[change.case.key]].setdefault("changes", []).append(said)
    data = {"cases": rows, "versions": list(versions), "figures": _FIGURES}
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def _row(
    report: Report, case: ReportedCase, limit: int, versions: dict[str, int]
) -> dict[str, Any]:
    """One case; what is empty is left out, which the script knows."""
    result = case.result
    told = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    row = {
        "name": report.sweep.name_of(case),
        "engine": readable(engine_of(result)),
        "variant": readable(variant_of(result)),
        "outcome": result.outcome.value,
        "mark": MARKS[result.outcome],
        "headline": headline(result) if case.fails else "",
        "message": readable(result.message or "", limit),
        "reason": readable(result.reason or "", limit),
        "facts": list(_facts(result, limit)),
        "metrics": [[readable(leaf), *_figures(found)] for leaf, found in result.metrics.items()],
        "seconds": [[readable(stage), round(took, 3)] for stage, took in _seconds(result)],
        "rows": [[readable(part.component or ""), headline(part)] for part in case.components],
        "tries": [readable(tried, limit) for tried in case.tries],
        "rerun": readable(rerun_command(result.case_id, _SETTINGS)),
        "versions": versions.setdefault(readable(told), len(versions)),
    }
    return {name: value for name, value in row.items() if value not in ("", [])}


def _facts(result: CaseResult, limit: int) -> Iterator[tuple[str, str]]:
    for column in dataclasses.fields(result):
        value = getattr(result, column.name)
        # An exit code of 0 is one; nothing else is said by what is empty or was not done.
        if column.name not in _TOLD and (value or type(value) is int):
            yield column.name.replace("_", " "), readable(_shown(value), limit)


def _shown(value: Any) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {item}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return "\n".join(map(str, value))
    return str(value)


def _figures(metrics: LeafMetrics) -> Iterator[str | None]:
    for name in _FIGURES:
        value = getattr(metrics, name)
        digits = ".6f" if name in _CORRELATIONS else ".3g"
        yield None if value is None else format(value, digits)


def _seconds(result: CaseResult) -> Iterator[tuple[str, float]]:
    """The stages that took a time that JSON has a number for."""
    return ((stage, took) for stage, took in result.seconds.items() if abs(took) < float("inf"))
