"""What became of the tiny model of one class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any, Final

from testing.isolation import ChildReport, Ending

__all__ = ["Kind", "Verdict", "verdict_of"]

# Of testing.tiny.errors, by name: a child tells no more of an error than that and its text.
_NO_MODEL: Final = (
    "ConfigDefaultsError",
    "NoTinyModelError",
    "NotAModelClassError",
    "UnknownModelClassError",
)
_MOST_TEXT: Final = 300


class Kind(str, Enum):
    """Whether a class is covered, and else why not."""

    COVERED = "covered"
    TAMED = "tamed"
    NEEDS_PACKAGE = "needs a package"
    IMPOSSIBLE = "impossible"
    NO_TINY_MODEL = "no tiny model"
    EAGER_FAILS = "eager fails"
    PROBLEMS = "problems"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"

    @property
    def is_finding(self) -> bool:
        """Whether somebody has to do something about it."""
        return self not in (Kind.COVERED, Kind.TAMED, Kind.NEEDS_PACKAGE, Kind.IMPOSSIBLE)


@dataclass(frozen=True)
class Verdict:
    """How the examination of one class ended.

    Attributes:
        model_class: Its name.
        kind: Covered, or why not. A tamed one has no problem, but its forward is not that of
            transformers' defaults.
        message: The problems, the error, or the place where it died; None where it is covered.
        stage: ``build`` or ``examine``, whichever came last.
        examination: What was measured, as `testing.tiny.examination.Examination` has it.
    """

    model_class: str
    kind: Kind
    message: str | None = None
    stage: str | None = None
    examination: Mapping[str, Any] | None = None

    @property
    def builds(self) -> bool:
        """Whether there is a tiny model."""
        return self.stage == "examine"

    @property
    def runs(self) -> bool:
        """Whether its forward works in eager."""
        return self.examination is not None


def verdict_of(model_class: str, report: ChildReport) -> Verdict:
    """What the end of a child that examined a class says of it."""
    if report.ending is Ending.RESULT:
        return _examined(model_class, report)
    kind, message = _ended(report)
    return Verdict(model_class, kind, _short(message), report.stage)


def _examined(model_class: str, report: ChildReport) -> Verdict:
    found: Mapping[str, Any] = report.result
    problems, tamed = found["problems"], found["exceptions"]
    if problems:
        return Verdict(model_class, Kind.PROBLEMS, "; ".join(problems), report.stage, found)
    kind = Kind.TAMED if tamed else Kind.COVERED
    return Verdict(model_class, kind, "; ".join(tamed) or None, report.stage, found)


def _ended(report: ChildReport) -> tuple[Kind, str]:
    if report.error is not None:
        return _raised(report)
    if report.ending in (Ending.TIMEOUT, Ending.HUNG_IMPORT):
        return Kind.TIMED_OUT, f"{report.stage or 'start'} did not end{_place(report.stack)}"
    how = report.signal or f"{report.ending.value} {report.exit_code or ''}".strip()
    return Kind.CRASHED, f"{how} in {report.stage or 'start'}{_place(report.stack)}"


def _raised(report: ChildReport) -> tuple[Kind, str]:
    error = report.error
    assert error is not None
    if error.kind == "MissingPackageError":
        return Kind.NEEDS_PACKAGE, error.message.rpartition("not installed: ")[2]
    if error.kind == "ImpossibleModelError":
        return Kind.IMPOSSIBLE, error.message.partition(" cannot be run: ")[2] or error.message
    if error.kind in _NO_MODEL:
        return Kind.NO_TINY_MODEL, error.message
    kind = Kind.EAGER_FAILS if report.stage == "examine" else Kind.NO_TINY_MODEL
    return kind, f"{error.kind}: {error.message}{_place(error.frames)}"


def _place(frames: tuple[Any, ...]) -> str:
    """`` (modeling_bert.py:12)``: the innermost frame of a model, else the innermost."""
    models = [frame for frame in frames if "modeling_" in frame.path]
    found = next(iter(models or frames), None)
    return f" ({PurePath(found.path).name}:{found.line})" if found else ""


def _short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _MOST_TEXT else f"{line[:_MOST_TEXT]}…"
