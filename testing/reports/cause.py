"""What tells one failure from another: how it ended, where, by which op, and in what words."""

from __future__ import annotations

import re
from typing import Final

from testing.reports.wording import headline
from testing.results import CaseResult

__all__ = ["cause_of", "shared_cause_of", "without_figures"]

# Figures, lines of files, addresses and scratch folders tell nights apart and not causes.
_FIGURE: Final = re.compile(
    r"0x[0-9a-f]+|(?<![\w.])[-+]?\d[\w.+-]*|(?<=:)\d+|(?<=/tmp/)[^\s/'\"]+"
)


def cause_of(result: CaseResult) -> str:
    """The headline of a result less its figures; equal for two failures of one cause."""
    return without_figures(headline(result))


def without_figures(text: str) -> str:
    """A text in which a ``#`` stands for each figure."""
    return _FIGURE.sub("#", text)


def shared_cause_of(result: CaseResult) -> str:
    """What failures of several models have in common: the op, else the words less names."""
    if result.op:
        return f"{result.outcome.value} {result.op}"
    return cause_of(result).replace(result.model_class, "#")
