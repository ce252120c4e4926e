"""Where in a model's code the program is: its source lines and its modules."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType

import torch

__all__ = ["model_line", "model_lines", "raised_at", "running_module"]

_NOT_THE_MODEL = ("torch", "torch_xla", "exporters", "contextlib")


def model_lines() -> list[str]:
    """``file.py:line`` of every frame of the model's own code, innermost first."""
    return [
        _place(frame, frame.f_lineno)
        for frame in _frames()
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _NOT_THE_MODEL
    ]


def model_line() -> str | None:
    """The innermost of these lines in a ``modeling_*.py``, else the innermost.

    A helper of transformers serves many models.
    """
    lines = model_lines()
    return _in_modeling(lines) or next(iter(lines), None)


def raised_at(error: BaseException) -> str | None:
    """The innermost line in a ``modeling_*.py`` through which `error` came."""
    lines = [_place(frame, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return _in_modeling(reversed(lines))


def running_module(names: Mapping[torch.nn.Module, str]) -> str | None:
    """Name of the innermost module that is running; the root's is that of its class."""
    for frame in _frames():
        module = frame.f_locals.get("self")
        if isinstance(module, torch.nn.Module) and module in names:
            return names[module] or type(module).__name__
    return None


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _place(frame: FrameType, line: int) -> str:
    return f"{frame.f_code.co_filename.rpartition('/')[2]}:{line}"


def _in_modeling(lines: Iterable[str]) -> str | None:
    return next((line for line in lines if line.startswith("modeling_")), None)
