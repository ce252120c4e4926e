"""Which axis that was declared dynamic is fixed in the program, told by the trials that fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from testing.pipeline.trials import Trial

__all__ = ["Refusal", "frozen_axes"]


@dataclass(frozen=True)
class Refusal:
    """A size that eager takes and the exported program does not.

    Attributes:
        trial: The trial.
        error: What the program raised.
    """

    trial: Trial
    error: str


def frozen_axes(
    failing: Iterable[Trial], passing: Iterable[Trial], traced: Mapping[str, int]
) -> Iterator[str]:
    """A sentence for each axis at which the program fails, with the sizes that tell it.

    Args:
        failing: Trials at other sizes that the program refuses or gets wrong.
        passing: Those that it gets right.
        traced: The size of each axis in the trace.
    """
    wrong, right = _by_axis(failing), _by_axis(passing)
    for axis, size in traced.items():
        if axis in wrong:
            also = ", ".join(map(str, [size, *right.get(axis, ())]))
            sizes = ", ".join(map(str, wrong[axis]))
            how = "Depends on" if axis in right else "Frozen though declared dynamic:"
            yield f"{how} the axis `{axis}`: right at {also}, wrong at {sizes}."
    if not wrong:
        yield "Right at other sizes of each axis, and wrong where several change at once."


def _by_axis(trials: Iterable[Trial]) -> dict[str, list[int]]:
    """The sizes of each axis that changed alone."""
    found: dict[str, list[int]] = {}
    for trial in trials:
        if len(trial.sizes) == 1:
            axis, size = next(iter(trial.sizes.items()))
            found.setdefault(axis, []).append(size)
    return found
