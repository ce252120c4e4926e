"""Applies a trace patch to a tiny model and compares it with itself; run in a child."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from exporters import get_backend
from exporters.base import Backend, Selection
from testing.isolation import ChildReport, Ending

__all__ = ["TARGET", "Inspection", "inspect", "inspection_of", "main"]

TARGET: Final = "testing.patches.inspecting:main"


@dataclass(frozen=True)
class Inspection:
    """What a patch does to one model.

    Attributes:
        applied: Whether the model has something to patch.
        max_abs: How far the patched model's outputs are from the unpatched one's on the CPU;
            None where it was not applied.
        differences: In what they differ, a sentence each.
        problems: Why it was left out although the model is one of its own.
        error: Why nothing could be found out; None where it could.
    """

    applied: bool = False
    max_abs: float | None = None
    differences: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    error: str | None = None

    @property
    def is_inert(self) -> bool:
        """Whether it changes nothing, or no more than it says."""
        return not self.differences


def inspection_of(report: ChildReport) -> Inspection:
    """What the end of a child says."""
    if report.ending is Ending.RESULT:
        found: Mapping[str, Any] = report.result
        lists = {name: tuple(found[name]) for name in ("differences", "problems")}
        return Inspection(**{**found, **lists})
    if report.error is not None:
        return Inspection(error=f"{report.error.kind}: {report.error.message}")
    how = report.signal or report.ending.value
    return Inspection(error=f"{how} in {report.stage or 'start'}")


def main(payload: Mapping[str, str], report: Callable[[str], None]) -> dict[str, Any]:
    """The target of a child.

    Args:
        payload: ``backend``, ``patch`` and ``model_class``.
        report: Told of each stage.
    """
    from testing.pipeline.prepare import normalise
    from testing.tiny import build

    report("build")
    subject = normalise(build(payload["model_class"]))
    report("inspect")
    only = Selection(everything=False, names=frozenset({payload["patch"]}))
    backend = get_backend(payload["backend"])
    return asdict(inspect(subject.model, subject.inputs.traced(), backend, only))


def inspect(
    model: Any, inputs: dict[str, Any], backend: Backend, selection: Selection
) -> Inspection:
    """Run `model` on the CPU with the patches of `selection` and without, and compare."""
    before = _output(model, inputs)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with backend.patched(model, inputs, selection) as applied:
            after = _output(model, inputs) if applied else None
    if not applied:
        return Inspection(problems=tuple(_left_out(told)))
    named = {patch.name: patch.tolerance for patch in backend.patches()}
    return _compared(before, after, max(named[name] for name in applied))


def _output(model: Any, inputs: dict[str, Any]) -> Any:
    from testing.pipeline.trials import run_once
    from testing.seeds import SEED

    return run_once(lambda own: model(**own), inputs, SEED).output


def _compared(before: Any, after: Any, tolerance: float) -> Inspection:
    from testing.comparison import compare
    from testing.registry.entries import Tolerance

    found = compare(before, after, Tolerance(atol=tolerance, rtol=tolerance))
    worst = max((figures.max_abs for figures in found.metrics.values()), default=0.0)
    return Inspection(True, worst, found.failures)


def _left_out(told: list[warnings.WarningMessage]) -> list[str]:
    messages = [str(one.message) for one in told]
    return [text for text in messages if text.startswith("trace patch ")]
