"""Trials at other sizes of every axis that an export declares dynamic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any, Final

from testing.faults import describe_error
from testing.pipeline.trials import Kind, Run, Trial
from testing.results import PROVES_NOTHING
from testing.subject import Inputs

__all__ = ["BATCH", "Sized", "sized"]

BATCH: Final = "batch"
"""The axis that every model has."""
_FEWEST: Final = 2
_LONGEST: Final = 200


@dataclass
class Sized:
    """Eager at other sizes.

    Attributes:
        runs: Trials with eager's run of each.
        refused: What eager raised, by axes and their sizes.
        traced: The size of each axis in the trace.
    """

    runs: list[tuple[Trial, Run]] = field(default_factory=list)
    refused: dict[str, dict[str, str]] = field(default_factory=dict)
    traced: Mapping[str, int] = field(default_factory=dict)

    @property
    def notes(self) -> Iterator[str]:
        """What of the axes could not be tried, and what of the trace may freeze one."""
        if not self.runs:
            yield f"{PROVES_NOTHING}no other size of any axis could be tried."
        for axis, errors in self.refused.items():
            error = next(iter(errors.values())).partition("\n")[0][:_LONGEST]
            yield f"Note: {axis} not tried at {', '.join(errors)}, which eager refuses: {error}"
        for axis, size in self.traced.items():
            if size < _FEWEST:
                yield f"Note: `{axis}` is {size} in the trace, which may be fixed in the program."
            equal = [other for other, its in self.traced.items() if its == size and other < axis]
            if equal:
                named = ", ".join(f"`{other}`" for other in equal)
                yield f"Note: `{axis}` and {named} are both {size} in the trace."


def sized(inputs: Inputs, run: Callable[[Trial], Run]) -> Sized:
    """Run eager at other sizes: of each axis alone, and of all that allow it at once.

    What eager itself refuses is no trial.

    Args:
        inputs: Inputs of the model; without families there is nothing fresh to try.
        run: Runs eager on a trial.
    """
    found = Sized(traced={BATCH: inputs.batch_size, **inputs.axes})
    for sizes, family in zip(_alone(found.traced), cycle(inputs.families)):
        _try(found, inputs, sizes, family, run)
    for axis in _untried(found) if inputs.families else ():
        _try(found, inputs, {axis: 2 * found.traced[axis]}, inputs.families[0], run)
    together = _together(found)
    if len(together) > 1:
        _try(found, inputs, together, inputs.families[-1], run)
    return found


def _alone(traced: Mapping[str, int]) -> Iterator[dict[str, int]]:
    for axis, size in traced.items():
        for other in _batches(size) if axis == BATCH else _lengths(size):
            yield {axis: other}


def _batches(size: int) -> list[int]:
    return sorted({1, 3, 2 * size + 1} - {size})


def _lengths(size: int) -> list[int]:
    step = max(1, size // 4)
    return [length for length in (size - step, size + step + 1) if length > 1]


def _untried(found: Sized) -> list[str]:
    """Axes of which eager took no size; where patches are cut it may take a multiple."""
    return [axis for axis in found.traced if axis != BATCH and axis not in _together(found)]


def _together(found: Sized) -> dict[str, int]:
    """The last size of each axis that eager took, the batch's among them."""
    return {axis: size for trial, _ in found.runs for axis, size in trial.sizes.items()}


def _try(
    found: Sized,
    inputs: Inputs,
    sizes: dict[str, int],
    family: str,
    run: Callable[[Trial], Run],
) -> None:
    try:
        trial = _trial(inputs, sizes, family)
        found.runs.append((trial, run(trial)))
    except Exception as error:
        # Of a model that does not take the sizes any error may come.
        axes, told = (" and ".join(map(str, part)) for part in (sizes, sizes.values()))
        found.refused.setdefault(axes, {})[told] = describe_error(error)


def _trial(inputs: Inputs, sizes: dict[str, int], family: str) -> Trial:
    lengths = {axis: size for axis, size in sizes.items() if axis != BATCH}
    batch = sizes.get(BATCH, inputs.batch_size)
    told = ", ".join(f"{_worded(axis)} {size}" for axis, size in sizes.items())
    fresh: dict[str, Any] = inputs.fresh(family, batch, lengths)
    label = f"{told} (inputs `{family}`)"
    return Trial(Kind.SIZE, label, fresh, batch, sizes=sizes)


def _worded(axis: str) -> str:
    return "batch size" if axis == BATCH else axis
