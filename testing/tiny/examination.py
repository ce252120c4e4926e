"""What is true of a tiny model: it is small and quick, and every input is seen in its outputs."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import torch

from exporters.tree import tensor_leaves
from testing import auto_classes
from testing.pipeline.prepare import normalise
from testing.seeds import set_seed
from testing.subject import Subject
from testing.tiny.builder import build_subject
from testing.tiny.exceptions import infinite_of, large, omitted_of, unused_of
from testing.tiny.forward import data_parameters

__all__ = ["MOST_PARAMETERS", "MOST_SECONDS", "NEAR_CONSTANT", "Examination", "examine", "main"]

MOST_PARAMETERS: Final = 2_000_000
MOST_SECONDS: Final = 1.0
NEAR_CONSTANT: Final = 1e-6
"""Standard deviation over its elements below which a leaf proves nothing."""
_BATCH_SIZES: Final = (1, 5)
# Outputs that differ by less, relative to their values, are the same.
_SAME: Final = 1e-5

_Outputs = Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class Examination:
    """What was measured of one tiny model in eager.

    Attributes:
        parameters: Number of its parameters.
        seconds: Processor time of one forward on one core, the second one.
        inputs: Names of what it is given.
        idle: Inputs that change no output and are not declared unused.
        unused: Inputs that are declared unused, each with why.
        busy: Inputs that are declared unused and yet change an output.
        withheld: Data that its forward takes, that it is not given, and that no table omits.
        leaves: Number of its floating output leaves.
        constant: Those whose standard deviation over the elements is below `NEAR_CONSTANT`.
        infinite: Output leaves with values that are not finite.
        unsteady: Output leaves that differ on a second call under the same seed.
        raised: Errors on fresh inputs and other batch sizes.
        exceptions: Flags changed from transformers' defaults, each with why.
        large: Why it may be beyond the limits of size and time.
    """

    parameters: int
    seconds: float
    inputs: tuple[str, ...]
    idle: tuple[str, ...]
    unused: Mapping[str, str]
    busy: tuple[str, ...]
    withheld: tuple[str, ...]
    leaves: int
    constant: tuple[str, ...]
    infinite: tuple[str, ...]
    unsteady: tuple[str, ...]
    raised: tuple[str, ...]
    exceptions: tuple[str, ...]
    large: str | None

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the model does not count as covered, one sentence each; none where it does."""
        return tuple(self._problems())

    def _problems(self) -> Iterator[str]:
        if not self.large:
            yield from self._beyond_limits()
        if not self.leaves and not self.inputs:
            yield "no tensor goes in or comes out"
        told = {
            "change no output": self.idle,
            "are declared unused and change an output": self.busy,
            "are not given": self.withheld,
            "are not finite": self.infinite,
            "differ on a second call under the same seed": self.unsteady,
        }
        yield from (f"{', '.join(names)} {what}" for what, names in told.items() if names)
        if self.leaves and len(self.constant) == self.leaves:
            yield "every output is near-constant"
        yield from self.raised

    def _beyond_limits(self) -> Iterator[str]:
        if self.parameters > MOST_PARAMETERS:
            yield f"{self.parameters:,} parameters, more than {MOST_PARAMETERS:,}"
        if self.seconds > MOST_SECONDS:
            yield f"a forward takes {self.seconds:.1f} s, more than {MOST_SECONDS:g} s"

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it, with `problems`."""
        return {**asdict(self), "problems": self.problems}


def examine(subject: Subject) -> Examination:
    """Measure a tiny model.

    Raises:
        Exception: Whatever its forward raises on the traced inputs.
    """
    return _Examiner(normalise(subject)).examination()


def main(model_class: str, report: Callable[[str], None]) -> dict[str, Any]:
    """The target of an isolated child: build the tiny model of a class and examine it."""
    report("build")
    subject = build_subject(model_class)
    report("examine")
    return examine(subject).to_dict()


class _Examiner:
    """Runs of one subject."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.name = type(subject.model).__name__
        self.model_type = auto_classes.model_type_of(self.name) or ""
        self.traced = subject.inputs.traced()
        self.outputs = self.run(self.traced)

    def run(self, inputs: Mapping[str, Any]) -> _Outputs:
        set_seed()
        with torch.no_grad():
            return tensor_leaves(self.subject.model(**copy.deepcopy(dict(inputs))))

    def examination(self) -> Examination:
        start = time.process_time()
        again = self.run(self.traced)
        seconds = time.process_time() - start
        floats = {path: leaf for path, leaf in self.outputs.items() if leaf.is_floating_point()}
        fixed = self.subject.inputs.unchanged
        idle = {path for path in self.traced if path not in fixed and self.is_idle(path)}
        unused = unused_of(self.model_type, self.name)
        return Examination(
            parameters=sum(weight.numel() for weight in self.subject.model.parameters()),
            seconds=round(seconds, 4),
            inputs=tuple(self.traced),
            idle=_in_order(self.traced, idle - set(unused)),
            unused={path: why for path, why in unused.items() if path in idle},
            busy=_in_order(self.traced, set(unused) - idle),
            withheld=self.withheld(),
            leaves=len(floats),
            constant=_where(floats, _is_near_constant),
            infinite=self.infinite(floats),
            unsteady=tuple(
                path
                for path, leaf in self.outputs.items()
                if path not in again or not _equal(leaf, again[path])
            ),
            raised=tuple(self.raised()),
            exceptions=self.subject.exceptions,
            large=large(self.model_type, self.name),
        )

    def infinite(self, leaves: _Outputs) -> tuple[str, ...]:
        """Leaves with values that are not finite, but for infinities where these are declared."""
        declared = infinite_of(self.model_type, self.name)
        return tuple(
            path
            for path, leaf in leaves.items()
            if not bool((leaf.isfinite() | (leaf.isinf() & (path in declared))).all())
        )

    def is_idle(self, path: str) -> bool:
        """Whether no fresh value of one input changes any output."""
        errors: list[Exception] = []
        for family in self.subject.inputs.families:
            fresh = self.subject.inputs.fresh(family)[path]
            try:
                after = self.run({**self.traced, path: fresh})
            except Exception as error:
                # What belongs together was torn apart; another family may leave it together.
                errors.append(error)
                continue
            if not _same(self.outputs, after):
                return False
        if len(errors) == len(self.subject.inputs.families):
            raise errors[0]
        return True

    def withheld(self) -> tuple[str, ...]:
        omitted = omitted_of(self.model_type, self.name)
        return tuple(
            name
            for name in data_parameters(type(self.subject.model))
            if name not in self.traced and name not in omitted
        )

    def raised(self) -> Iterator[str]:
        inputs = self.subject.inputs
        draws: list[tuple[str, int | None]] = [(family, None) for family in inputs.families]
        draws += [(inputs.families[0], size) for size in _BATCH_SIZES if inputs.families]
        for family, size in draws:
            try:
                outputs = self.run(inputs.fresh(family, size))
            except Exception as error:
                where = f"{family}, batch {size}" if size else family
                yield f"on fresh inputs ({where}): {type(error).__name__}: {error}"
            else:
                bad = self.infinite(outputs)
                if bad:
                    yield f"on fresh inputs ({family}): {', '.join(bad)} not finite"


def _where(leaves: _Outputs, holds: Callable[[torch.Tensor], bool]) -> tuple[str, ...]:
    return tuple(path for path, leaf in leaves.items() if leaf.numel() > 1 and holds(leaf))


def _is_near_constant(leaf: torch.Tensor) -> bool:
    return float(leaf.double().std(correction=0)) < NEAR_CONSTANT


def _in_order(inputs: Mapping[str, Any], names: set[str]) -> tuple[str, ...]:
    return tuple(path for path in inputs if path in names)


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.equal(one.nan_to_num(), other.nan_to_num())


def _same(before: _Outputs, after: _Outputs) -> bool:
    """Whether all leaves are the same up to a tolerance relative to their values."""
    return set(before) == set(after) and all(_close(before[p], after[p]) for p in before)


def _close(before: torch.Tensor, after: torch.Tensor) -> bool:
    if before.shape != after.shape:
        return False
    if not before.numel():
        return True
    # Of the median value, not the largest: Splinter's masked logits are the lowest float.
    one, other = before.double(), after.double()
    finite = one[one.isfinite()].abs()
    usual = float(finite.median() if len(finite) else 0) or 1.0
    return torch.allclose(one, other, rtol=_SAME, atol=_SAME * usual, equal_nan=True)
