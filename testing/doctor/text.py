"""Findings as a person reads them: a table where it is wide enough, else a block for each op."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from exporters.base import OpStatus, OpUse
from testing.doctor.advice import advice
from testing.doctor.findings import Findings
from testing.faults import readable

__all__ = ["shown"]

_COLUMNS = ("op", "count", "status", "operand", "where", "what to do")
_TABLE_WIDTH = 150
"""Columns from which on no name in the table is cut in two."""
_LABELS = ("operand", "where", "to do")
_INDENT = "    "
_OPERANDS = 2
_LONGEST = 120
_STYLES = {
    OpStatus.RAISES: "red",
    OpStatus.ON_WEIGHT: "red",
    OpStatus.READ: "yellow",
    OpStatus.ON_ACTIVATION: "yellow",
}


def shown(found: Findings, *, width: int = 100, color: bool = False) -> str:
    """The whole report.

    Args:
        found: What was found.
        width: Columns of the terminal.
        color: Whether it shows colours; without, the text is plain.
    """
    blocks = [headline(found)]
    if found.marked:
        laid_out = _table if width >= _TABLE_WIDTH else _list
        blocks.append(laid_out(found, width, color))
    if found.lowered:
        listed = ", ".join(f"{op.removeprefix('aten::')} {n}" for op, n in found.lowered.items())
        blocks.append(_wrapped(f"lowered by XLA: {listed}", width) + "\n")
    blocks += [f"To start from, for {op}:\n\n{code}" for op, code in found.sketches.items()]
    return "\n".join(blocks)


def headline(found: Findings) -> str:
    """What is true of the model, in a few lines."""
    return "\n".join(map(readable, _headlines(found))) + "\n"


def _headlines(found: Findings) -> Iterator[str]:
    if found.obstacle:
        yield f"{found.model}: not examined: {found.obstacle}"
        return
    fatal = sum(use.count for use in found.uses if use.is_fatal)
    patches = f", with trace patch {', '.join(found.patches)}" if found.patches else ""
    if not found.fails:
        yield f"{found.model}: the trace goes through{patches}"
    elif fatal:
        yield f"{found.model}: {fatal} calls of ops that end the trace{patches}"
    if found.error:
        where = f" at {found.source}" if found.source else ""
        yield f"{found.model}: the forward ends{where}: {found.error}"
        yield "What would have come after it is not listed."


def _table(found: Findings, width: int, color: bool) -> str:
    table = Table(box=None, pad_edge=False)
    longest = max(len(use.source or "") for use in found.marked)
    for column in _COLUMNS:
        is_name = column in ("op", "count")
        least = longest if column == "where" else None
        table.add_column(
            column, no_wrap=is_name, overflow="fold", min_width=least, header_style="bold"
        )
    for use in found.marked:
        table.add_row(*_row(use), style=_STYLES.get(use.status))
    return _rendered(table, width, color)


def _list(found: Findings, width: int, color: bool) -> str:
    """One line that says what becomes of an op, and what is known of it below."""
    listed = Text()
    for use in found.marked:
        op, count, status, *details = _row(use)
        listed.append(f"{op}  {count}x  {status}\n", style=_STYLES.get(use.status) or "bold")
        for label, detail in zip(_LABELS, details, strict=True):
            line = f"{_INDENT}{label}: {', '.join(detail.splitlines())}"
            listed.append(_wrapped(line, width) + "\n" if detail else "")
    listed.rstrip()
    return _rendered(listed, width, color)


def _wrapped(line: str, width: int) -> str:
    """Lines of no more than `width` columns where words are no longer: names stay whole."""
    return textwrap.fill(
        line,
        width,
        subsequent_indent=_INDENT * 2,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _rendered(what: Table | Text, width: int, color: bool) -> str:
    stream = io.StringIO()
    Console(
        file=stream,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
    ).print(what, soft_wrap=isinstance(what, Text))
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def _row(use: OpUse) -> tuple[str, ...]:
    told = f"{use.kind}: {_operands(use)}" if use.kind else _operands(use)
    where = "\n".join(part for part in (use.source, _module(use)) if part)
    return use.op, str(use.count), use.status.value, readable(told), where, readable(advice(use))


def _operands(use: OpUse) -> str:
    """The first operands, those that derive from something before constants."""
    found = sorted(use.operands, key=lambda told: told.startswith("a constant"))
    shown = [textwrap.shorten(told, _LONGEST, placeholder=" …") for told in found[:_OPERANDS]]
    left = len(found) - _OPERANDS
    return "; ".join([*shown, *([f"and {left} more"] if left > 0 else [])])


def _module(use: OpUse) -> str:
    more = len(use.modules) - 1
    return f"{use.modules[0]}{f' and {more} more' if more > 0 else ''}" if use.modules else ""
