"""What the parent learns about a child."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

__all__ = ["ChildError", "ChildReport", "Ending", "Frame", "parse_fault"]


class Ending(str, Enum):
    """How a child ended."""

    RESULT = "result"
    ERROR = "error"
    NO_RESULT = "exited 0 without a result"
    EXITED = "exited with a status"
    SIGNALED = "died by a signal"
    TIMEOUT = "was killed at its limit"
    MEMORY = "was killed at its memory limit"
    INVALID = "reported what is no JSON"
    HUNG_IMPORT = "hung before its start"
    SERVER_DIED = "lost its fork server"


@dataclass(frozen=True)
class Frame:
    """One Python frame."""

    path: str
    line: int
    function: str


@dataclass(frozen=True)
class ChildError:
    """An exception that the target raised.

    Attributes:
        kind: Name of its type.
        message: Its text.
        traceback: The formatted traceback.
        frames: Its frames, innermost first.
    """

    kind: str
    message: str
    traceback: str
    frames: tuple[Frame, ...]


@dataclass(frozen=True)
class ChildReport:
    """How a child ended and what it left.

    Attributes:
        ending: The kind of end; the fields below that do not belong to it are None or empty.
        result: What the target returned, as JSON carries it.
        error: The exception that it raised.
        signal: Name of the signal that killed it, such as ``SIGABRT``.
        exit_code: As a shell tells it: 128 + number for a signal.
        stage: The last stage that was reported.
        stages: Seconds spent in each reported stage.
        parts: Parts of the result that the child reported before its end.
        stack: Python frames at a fatal signal or at the limit, innermost first.
        stdout: Head and tail of its standard output.
        stderr: Head and tail of its standard error.
        seconds: From the request to the end.
        peak_rss_mb: Largest resident set, in MiB; what it shared with the server counts. Where
            memory is limited, descendants count too.
        notes: What else was odd, one sentence each.
    """

    ending: Ending
    result: Any = None
    error: ChildError | None = None
    signal: str | None = None
    exit_code: int | None = None
    stage: str | None = None
    stages: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[Any, ...] = ()
    stack: tuple[Frame, ...] = ()
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    peak_rss_mb: float | None = None
    notes: tuple[str, ...] = ()


_THREAD = re.compile(r"^(?=Thread |Current thread )", re.MULTILINE)
_FRAME = re.compile(r'^\s*File "(?P<path>.*)", line (?P<line>\d+) in (?P<function>.*)$')


def parse_fault(text: str) -> tuple[Frame, ...]:
    """The Python frames in what faulthandler wrote, innermost first.

    They are those of the faulting thread, or of the last that has any, which is the main one,
    when the fault is in a thread without Python frames.
    """
    blocks = _THREAD.split(text)
    current = [block for block in blocks if block.startswith("Current thread")]
    stacks = map(_frames, (*current, *reversed(blocks)))
    return next(filter(None, stacks), ())


def _frames(block: str) -> tuple[Frame, ...]:
    matches = filter(None, map(_FRAME.match, block.splitlines()))
    return tuple(Frame(m["path"], int(m["line"]), m["function"]) for m in matches)
