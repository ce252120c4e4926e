"""The terminal summary: a result per case, then what a person acts on."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from testing.faults import readable
from testing.reports.wording import headline, skip_text
from testing.results import CHANGED_FLAG, PROVES_NOTHING, CaseResult, Outcome

__all__ = ["damage", "summarize"]

Results: TypeAlias = Sequence[CaseResult]

_STYLES = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "red",
    Outcome.CRASHED: "red",
    Outcome.TIMEOUT: "red",
    Outcome.XPASSED: "red",
    Outcome.SKIPPED: "yellow",
    Outcome.XFAILED: "yellow",
}
_CHANGED_FLAG = re.compile(rf"^{re.escape(CHANGED_FLAG)}(.*)\.$", re.MULTILINE)
_PROVES_NOTHING = re.compile(rf"^{re.escape(PROVES_NOTHING)}(.*)$", re.MULTILINE)
_NAMES_SHOWN = 8


def summarize(results: Iterable[CaseResult], *, width: int = 100, color: bool = False) -> str:
    """Text for the end of a run.

    Args:
        results: One result for each case.
        width: Columns of the terminal; longer lines are left to it.
        color: Whether it shows colours; without, the text is plain.
    """
    found = sorted(results, key=_order)
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=max(width, _width_of_table(found)),
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in _parts(found):
        console.print(part, soft_wrap=isinstance(part, Text))
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def damage(lines: Sequence[str]) -> str:
    """One sentence about the lines of a journal that hold no result.

    Args:
        lines: At least one, each as ``file:line: why``.
    """
    first = readable(lines[0]).replace("\n", " ")
    return f"lines of the results directory that hold no result: {len(lines)}, first {first}"


def _width_of_table(results: Results) -> int:
    """Columns that the table of cases needs: a cell that is cut would tell nothing."""
    names = max((len(result.model_class) for result in results), default=0)
    return 80 + names + 20 * len({_column(result) for result in results})


def _order(result: CaseResult) -> tuple[str, str, str, str]:
    return (result.model_type or "", result.model_class, _engine(result), _variant(result))


def _parts(results: Results) -> Iterator[RenderableType]:
    """The pieces from the longest to what is read first, which the terminal shows last."""
    reached = [result for result in results if result.outcome is not Outcome.SKIPPED]
    if reached:
        yield _case_table(results, {result.model_class for result in reached})
    yield from _listed("not applicable", _of(results, Outcome.NOT_APPLICABLE), _detail)
    yield from _listed("exported, not run", _of(results, Outcome.EXPORTED), _detail)
    yield from _listed("still needed", _of(results, Outcome.XFAILED), skip_text)
    yield from _listed("skipped", _of(results, Outcome.SKIPPED), skip_text)
    yield from _listed("passed, which proves nothing", _proving_nothing(results), _why_nothing)
    yield from _counts(results)
    yield _totals(results)
    failures = [result for result in results if result.outcome.is_failure]
    yield from _listed("failures", failures, _failure)


# A result per case


def _case_table(results: Results, classes: set[str]) -> Table:
    columns = sorted({_column(result) for result in results})
    table = Table("model class", *columns, box=None, pad_edge=False)
    shown = [result for result in results if result.model_class in classes]
    for model_type, of_type in groupby(shown, key=lambda result: result.model_type or "other"):
        table.add_row(Text(model_type, style="bold"))
        for model_class, of_class in groupby(of_type, key=lambda result: result.model_class):
            cells = {_column(result): _cell(result) for result in of_class}
            row = [cells.get(column, Text("")) for column in columns]
            table.add_row(Text(f"  {model_class}", no_wrap=True), *row)
    return table


def _cell(result: CaseResult) -> Text:
    words = result.outcome.value.replace("_", " ")
    text = f"{words} {result.signal}" if result.signal else words
    return Text(text, style=_STYLES.get(result.outcome, ""), no_wrap=True)


def _column(result: CaseResult) -> str:
    return f"{_engine(result)} {_variant(result)}"


def _engine(result: CaseResult) -> str:
    return f"{result.backend}/{result.runtime}" if result.runtime else result.backend


def _variant(result: CaseResult) -> str:
    words = [
        "generate" if result.generate else "",
        result.variant,
        "static-cache" if result.static_cache else "",
    ]
    return " ".join(word for word in words if word)


# Totals


def _totals(results: Results) -> Table:
    outcomes = [outcome for outcome in Outcome if _of(results, outcome)]
    names = [outcome.value.replace("_", " ") for outcome in outcomes]
    table = Table("totals", box=None, pad_edge=False)
    for name in [*names, "all"]:
        table.add_column(name, justify="right")
    for column in sorted({_column(result) for result in results}):
        counted = Counter(result.outcome for result in results if _column(result) == column)
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


def _listed(
    title: str, results: Results, said: Callable[[CaseResult], str]
) -> Iterator[RenderableType]:
    """A line for each thing that is said, with the cases of which it is said."""
    if not results:
        return
    yield Text(f"{title} ({len(results)})", style="bold")
    groups: dict[str, list[CaseResult]] = {}
    for result in results:
        groups.setdefault(said(result).replace("\n", " "), []).append(result)
    for text, group in sorted(groups.items(), key=lambda item: -len(item[1])):
        yield Text(f"  {_named(group)}: {text}")


def _named(group: Results) -> str:
    """The cases of a group: each class with its columns, or how many there are."""
    columns: dict[str, list[str]] = {}
    for result in group:
        columns.setdefault(result.model_class, []).append(_column(result))
    if len(columns) > _NAMES_SHOWN:
        first = ", ".join(list(columns)[:_NAMES_SHOWN])
        return f"{len(group)} cases of {len(columns)} classes ({first}, …)"
    return ", ".join(f"{name} [{', '.join(where)}]" for name, where in columns.items())


def _detail(result: CaseResult) -> str:
    """The fact behind an outcome that is neither pass nor failure."""
    said = result.message or result.reason or ""
    return readable(next((line for line in said.splitlines() if line.strip()), "no detail"))


def _proving_nothing(results: Results) -> Results:
    """Passes whose comparison had nothing that could differ."""
    passed = _of(results, Outcome.PASSED)
    return [result for result in passed if _PROVES_NOTHING.search(result.message or "")]


def _why_nothing(result: CaseResult) -> str:
    found = _PROVES_NOTHING.search(result.message or "")
    return found.group(1) if found else ""


def _failure(result: CaseResult) -> str:
    entry = f" · entry of scope {result.scope} is stale, delete it" if result.scope else ""
    is_stale = result.outcome is Outcome.XPASSED
    return headline(result) + (entry if is_stale else "")


def _counts(results: Results) -> Iterator[RenderableType]:
    patches = Counter(name for result in results for name in result.patches)
    lowerings = Counter(name for result in results for name in result.lowerings)
    exceptions = Counter(
        text for result in results for text in _CHANGED_FLAG.findall(result.message or "")
    )
    reads = Counter(len(result.baked_reads) > 0 for result in results)
    yield from _counted("patches applied", patches)
    yield from _counted("lowerings applied", lowerings)
    yield from _counted("not as transformers has it, so not reached", exceptions)
    if reads[True]:
        yield Text(f"values baked in while tracing: {reads[True]} cases")


def _counted(title: str, counts: Counter[str]) -> Iterator[RenderableType]:
    if counts:
        told = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        yield Text(f"{title}: {readable(told)}")
