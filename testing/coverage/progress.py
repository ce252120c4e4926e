"""How far the examination is: a line that moves on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from testing.coverage.verdict import Verdict

__all__ = ["told"]

_EVERY = 100


def told(
    verdicts: Iterable[Verdict], total: int, stream: TextIO | None = None
) -> Iterator[Verdict]:
    """The same verdicts; how many came is written to `stream`, standard error by default."""
    out = stream or sys.stderr
    yield from _moving(verdicts, total, out) if out.isatty() else _plain(verdicts, total, out)


def _moving(verdicts: Iterable[Verdict], total: int, out: TextIO) -> Iterator[Verdict]:
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("examining"), MofNCompleteColumn(), TimeRemainingColumn())
    name = TextColumn("{task.fields[name]}")
    with Progress(*columns, name, console=Console(file=out), transient=True) as progress:
        task = progress.add_task("", total=total, name="")
        for verdict in verdicts:
            progress.update(task, advance=1, name=verdict.model_class)
            yield verdict


def _plain(verdicts: Iterable[Verdict], total: int, out: TextIO) -> Iterator[Verdict]:
    for number, verdict in enumerate(verdicts, start=1):
        if number % _EVERY == 0 or number == total:
            out.write(f"examined {number} of {total}\n")
            out.flush()
        yield verdict
