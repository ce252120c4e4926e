"""Which line of a Python stack is the model's own."""

from __future__ import annotations

import os
from collections.abc import Iterable
from traceback import FrameSummary, extract_tb
from types import TracebackType

from testing.isolation import Frame

__all__ = ["frames_of", "model_source"]


def model_source(frames: Iterable[Frame], test_path: str) -> str | None:
    """``file.py:line`` of the innermost frame of model code, else of the test file, else None.

    Args:
        frames: The stack, innermost frame first.
        test_path: File of the test class, which may define models of its own.
    """
    stack = list(frames)
    of_models = (f for f in stack if os.path.basename(f.path).startswith("modeling_"))
    of_test = (f for f in stack if os.path.realpath(f.path) == os.path.realpath(test_path))
    found = next(of_models, None) or next(of_test, None)
    return f"{os.path.basename(found.path)}:{found.line}" if found else None


def frames_of(trace: TracebackType | None) -> tuple[Frame, ...]:
    """The frames of a traceback, innermost first."""
    return tuple(map(_frame, reversed(extract_tb(trace))))


def _frame(summary: FrameSummary) -> Frame:
    return Frame(summary.filename, summary.lineno or 0, summary.name)
