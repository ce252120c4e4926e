"""The terminal summary: a result per case, then what a person acts on."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from testing.faults import readable
from testing.reports.cause import shared_cause_of
from testing.reports.counts import counts
from testing.reports.group import grouped
from testing.reports.names import column_of, engine_of, names_of, variant_of
from testing.reports.wording import headline, skip_text
from testing.results import PROVES_NOTHING, CaseResult, Outcome

__all__ = ["damage", "summarize"]

Results: TypeAlias = Sequence[CaseResult]
Names: TypeAlias = Mapping[str, str]
Components: TypeAlias = Mapping[tuple[str, str], Results]
Said: TypeAlias = Callable[[CaseResult], str]

_STYLES = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "red",
    Outcome.CRASHED: "red",
    Outcome.TIMEOUT: "red",
    Outcome.XPASSED: "red",
    Outcome.SKIPPED: "yellow",
    Outcome.XFAILED: "yellow",
}
_PROVES_NOTHING = re.compile(rf"^{re.escape(PROVES_NOTHING)}(.*)$", re.MULTILINE)
_NAMES_SHOWN = 8
_COMMANDS_SHOWN = 8


def summarize(
    results: Iterable[CaseResult],
    *,
    rerun: Said | None = None,
    width: int = 100,
    color: bool = False,
) -> str:
    """Text for the end of a run.

    Args:
        results: One result for each case, and one for each of its components.
        rerun: The command that runs a case alone, to be told beside each failure.
        width: Columns of the terminal; longer lines are left to it.
        color: Whether it shows colours; without, the text is plain.
    """
    found, components = _divided(results)
    names = names_of(found)
    found.sort(key=lambda result: _order(result, names))
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=max(width, _width_of_table(found, names)),
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in [*_parts(found, components, names), *_failures(found, names, rerun)]:
        console.print(part, soft_wrap=isinstance(part, Text))
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def _divided(results: Iterable[CaseResult]) -> tuple[list[CaseResult], Components]:
    """The results of the cases, and by case those of its components.

    A run that was cut off within a case has components without the row that sums them up.
    """
    rows = list(results)
    whole = {row.case_id for row in rows if row.component is None}
    cases = [row for row in rows if row.component is None or row.case_id not in whole]
    components: dict[tuple[str, str], list[CaseResult]] = {}
    for row in rows:
        if row.component is not None and row.case_id in whole:
            components.setdefault((row.case_id, column_of(row)), []).append(row)
    return cases, components


def damage(lines: Sequence[str]) -> str:
    """One sentence about the lines of a journal that hold no result.

    Args:
        lines: At least one, each as ``file:line: why``.
    """
    first = readable(lines[0]).replace("\n", " ")
    return f"lines of the results directory that hold no result: {len(lines)}, first {first}"


def _width_of_table(results: Results, names: Names) -> int:
    """Columns that the table of cases needs: a cell that is cut would tell nothing."""
    longest = max(map(len, names.values()), default=0)
    return 80 + longest + 20 * len({column_of(result) for result in results})


def _order(result: CaseResult, names: Names) -> tuple[str, str, str, str]:
    return (result.model_type or "", names[result.case_id], engine_of(result), variant_of(result))


def _parts(results: Results, components: Components, names: Names) -> Iterator[RenderableType]:
    """The pieces from the longest to what is read first, which the terminal shows last."""
    ran = [r for r in results if r.outcome is not Outcome.SKIPPED or r.is_runtime_limit]
    reached = {names[r.case_id] for r in ran}
    if reached:
        shown = [r for r in results if names[r.case_id] in reached]
        yield _case_table(shown, components, names)
    limits = [row for r in results for row in _rows(r, components) if row.is_runtime_limit]
    yield from _listed("limits of a runtime, no pass", limits, skip_text, names)
    skipped_parts = _skipped_parts(results, components)
    yield from _listed("skipped in part", skipped_parts, skip_text, names)
    for title, listed, said in _lists(results):
        yield from _listed(title, listed, said, names)
    yield from map(Text, counts(results))
    yield _totals(results)
    # Whether these fail the run is for `--no-strict-skips` to say.
    yield from _listed("stale", _of(results, Outcome.XPASSED), _stale, names)


def _lists(results: Results) -> Iterator[tuple[str, Results, Said]]:
    """Title, cases, and what is said of each, for every list but the failures."""
    yield "not applicable", _of(results, Outcome.NOT_APPLICABLE), _detail
    yield "exported, not run", _of(results, Outcome.EXPORTED), _detail
    yield "still needed", _of(results, Outcome.XFAILED), skip_text
    skipped = [r for r in _of(results, Outcome.SKIPPED) if not r.is_runtime_limit]
    yield "skipped", skipped, skip_text
    yield "flaky", [result for result in results if result.is_flaky], _flaky
    yield "passed, which proves nothing", _proving_nothing(results), _why_nothing


def _skipped_parts(results: Results, components: Components) -> Results:
    """What was left out of cases that ran otherwise; their own outcome does not tell of it."""
    ran = [result for result in results if result.outcome is not Outcome.SKIPPED]
    skipped = _of([row for result in ran for row in _rows(result, components)], Outcome.SKIPPED)
    return [row for row in skipped if not row.is_runtime_limit]


def _rows(result: CaseResult, components: Components) -> Results:
    """The components of a case, or the case itself where it has none."""
    return components.get((result.case_id, column_of(result)), [result])


# Failures


def _failures(results: Results, names: Names, rerun: Said | None) -> Iterator[Text]:
    """The failures of each cause, the most frequent first, and how to run each alone."""
    failures = [r for r in results if r.outcome.is_failure and r.outcome is not Outcome.XPASSED]
    if not failures:
        return
    said = ((result, headline(result)) for result in failures)
    groups = grouped(said, by=lambda result, _: shared_cause_of(result))
    causes = f", causes ({len(groups)})" if len(groups) < len(failures) else ""
    yield Text(f"failures ({len(failures)}){causes}", style="bold")
    for group in groups:
        yield Text(f"  {_named(group.cases, names)}: {group.said}")
        yield from _commands(group.cases, rerun)


def _commands(group: Results, rerun: Said | None) -> Iterator[Text]:
    if rerun is None:
        return
    yield from (Text(f"    {rerun(result)}") for result in group[:_COMMANDS_SHOWN])
    if len(group) > _COMMANDS_SHOWN:
        more = len(group) - _COMMANDS_SHOWN
        yield Text(f"    … and {more} more: each failure has its own above")


# A result per case


def _case_table(shown: Results, components: Components, names: Names) -> Table:
    columns = sorted({column_of(result) for result in shown})
    table = Table("model class", *columns, box=None, pad_edge=False)
    for model_type, of_type in groupby(shown, key=lambda result: result.model_type or "other"):
        table.add_row(Text(model_type, style="bold"))
        for name, of_name in groupby(of_type, key=lambda result: names[result.case_id]):
            cases = list(of_name)
            _add_row(table, f"  {name}", cases, columns)
            parts = [row for case in cases for row in _rows(case, components) if row is not case]
            for part in dict.fromkeys(row.component for row in parts):
                of_part = [row for row in parts if row.component == part]
                _add_row(table, f"    {part}", of_part, columns)
    return table


def _add_row(table: Table, title: str, results: Results, columns: list[str]) -> None:
    cells = {column_of(result): _cell(result) for result in results}
    row = [cells.get(column, Text("")) for column in columns]
    table.add_row(Text(title, no_wrap=True), *row)


def _cell(result: CaseResult) -> Text:
    words = result.outcome.words
    text = f"{words} {result.signal}" if result.signal else words
    return Text(text, style=_STYLES.get(result.outcome, ""), no_wrap=True)


# Totals


def _totals(results: Results) -> Table:
    outcomes = [outcome for outcome in Outcome if _of(results, outcome)]
    names = [outcome.words for outcome in outcomes]
    table = Table("totals", box=None, pad_edge=False)
    for name in [*names, "all"]:
        table.add_column(name, justify="right")
    for column in sorted({column_of(result) for result in results}):
        counted = Counter(result.outcome for result in results if column_of(result) == column)
        _add_counts(table, column, counted, outcomes)
    if table.row_count > 1:
        _add_counts(table, "all", Counter(result.outcome for result in results), outcomes)
    return table


def _add_counts(
    table: Table, name: str, counted: Counter[Outcome], outcomes: list[Outcome]
) -> None:
    cells = [
        Text(str(counted[outcome]), style=_STYLES.get(outcome, "") if counted[outcome] else "dim")
        for outcome in outcomes
    ]
    table.add_row(Text(name), *cells, Text(str(counted.total())))


def _of(results: Results, outcome: Outcome) -> Results:
    return [result for result in results if result.outcome is outcome]


# Lists


def _listed(title: str, results: Results, said: Said, names: Names) -> Iterator[RenderableType]:
    """A line for each thing that is said, with the cases of which it is said."""
    if not results:
        return
    yield Text(f"{title} ({len(results)})", style="bold")
    lines = ((result, said(result).replace("\n", " ")) for result in results)
    for group in grouped(lines, by=lambda _, line: line):
        yield Text(f"  {_named(group.cases, names)}: {group.said}")


def _named(group: Results, names: Names) -> str:
    """The cases of a group: each class with its columns, or how many there are."""
    columns: dict[str, list[str]] = {}
    for result in group:
        component = f" · {result.component}" if result.component else ""
        name = f"{names[result.case_id]}{component}"
        columns.setdefault(name, []).append(column_of(result))
    if len(columns) > _NAMES_SHOWN:
        first = ", ".join(list(columns)[:_NAMES_SHOWN])
        classes = len({result.model_class for result in group})
        return f"{len(group)} cases of {classes} classes ({first}, …)"
    return ", ".join(f"{name} [{', '.join(where)}]" for name, where in columns.items())


def _detail(result: CaseResult) -> str:
    """The fact behind an outcome that is neither pass nor failure."""
    said = result.message or result.reason or ""
    return readable(next((line for line in said.splitlines() if line.strip()), "no detail"))


def _flaky(result: CaseResult) -> str:
    return readable(f"crashed, then {result.outcome.value}: {'; '.join(result.deaths)}")


def _proving_nothing(results: Results) -> Results:
    """Passes whose comparison had nothing that could differ."""
    passed = _of(results, Outcome.PASSED)
    return [result for result in passed if _PROVES_NOTHING.search(result.message or "")]


def _why_nothing(result: CaseResult) -> str:
    found = _PROVES_NOTHING.search(result.message or "")
    return found.group(1) if found else ""


def _stale(result: CaseResult) -> str:
    return f"{headline(result)} · entry of scope {result.scope} is stale, delete it"
