"""What one case is run on: the traced inputs, fresh ones, other sizes and other weights."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import cycle
from typing import Any, Final

import torch

from exporters.tree import leaves
from testing.pipeline.prepare import copy_inputs, snapshot
from testing.seeds import SEED, set_seed
from testing.subject import Inputs

__all__ = ["Kind", "Run", "Trial", "changed_leaves", "other_weights", "plan", "run_once"]

_FACTOR: Final = 0.8
_OFFSET: Final = 0.02


class Kind(Enum):
    """What a trial differs in from the trace."""

    TRACED = "traced"
    REPEATED = "repeated"
    FRESH = "fresh"
    SIZE = "size"
    WEIGHTS = "weights"


@dataclass(frozen=True)
class Trial:
    """One set of inputs on which eager and the exported model run.

    Attributes:
        kind: What it differs in from the trace.
        label: How messages call it.
        inputs: Keyword inputs; each run gets a copy.
        batch_size: Size of their batch.
        seed: Seed of both runs.
        sizes: Axes that have another size than in the trace, where it tries what is declared
            dynamic.
    """

    kind: Kind
    label: str
    inputs: dict[str, Any]
    batch_size: int
    seed: int = SEED
    sizes: Mapping[str, int] = field(default_factory=dict)

    def differs_in_weights_only(self, other: Trial) -> bool:
        """Whether two trials have the same inputs and seed."""
        return self.inputs is other.inputs and self.seed == other.seed


@dataclass(frozen=True)
class Run:
    """What one call returned, and which leaves of its inputs it changed."""

    output: Any
    mutated: tuple[str, ...] = ()


def plan(inputs: Inputs, dynamic: bool) -> list[Trial]:
    """The trials of one case, the traced inputs first and other weights last.

    ``dynamic`` adds batches of 1, 2B and 2B+1 samples for a trace of B: less than one chunk, a
    whole number of chunks, and a last chunk that is padded. Each takes the next family.
    """
    traced, batch = inputs.traced(), inputs.batch_size
    trials = [
        Trial(Kind.TRACED, "the traced inputs", traced, batch),
        Trial(Kind.REPEATED, "a second call under another seed", traced, batch, SEED + 1),
    ]
    for family in inputs.families:
        label = f"fresh inputs `{family}`"
        trials.append(Trial(Kind.FRESH, label, inputs.fresh(family), batch))
    sizes = sorted({1, 2 * batch, 2 * batch + 1}) if dynamic and inputs.families else []
    for size, family in zip(sizes, cycle(inputs.families)):
        label = f"batch size {size} (inputs `{family}`)"
        trials.append(Trial(Kind.SIZE, label, inputs.fresh(family, size), size))
    last_inputs = next((t.inputs for t in trials if t.kind is Kind.FRESH), traced)
    return [*trials, Trial(Kind.WEIGHTS, "other weights", last_inputs, batch)]


def run_once(call: Callable[[dict[str, Any]], Any], inputs: dict[str, Any], seed: int) -> Run:
    """Call with a copy of `inputs` under `seed`, without gradients.

    The output is copied, since it may be a view of an input or of a buffer.
    """
    own = copy_inputs(inputs)
    set_seed(seed)
    with torch.no_grad():
        output = snapshot(call(own))
    return Run(output, changed_leaves(inputs, own))


def other_weights(model: torch.nn.Module) -> torch.nn.Module:
    """A copy of the model in which every floating parameter and buffer has other values.

    Each value is multiplied by a random factor between 0.8 and 1: signs, zeros and ties stay,
    variances stay positive, and masks filled with the lowest value do not overflow. A parameter
    that is zero throughout, as most biases are at first, gets values of at most 0.02 instead; a
    buffer of zeros stays, since it may be a mask.
    """
    twin = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for tensor in filter(_can_change, [*twin.parameters(), *twin.buffers()]):
            factors = torch.rand(tensor.shape, generator=generator)
            tensor.mul_((_FACTOR + (1 - _FACTOR) * factors).to(tensor))
        for tensor in filter(_can_change, twin.parameters()):
            if not tensor.any():
                offsets = torch.rand(tensor.shape, generator=generator) * 2 - 1
                tensor.add_((_OFFSET * offsets).to(tensor))
    # What a module in eval keeps of its weights, as Levit its attention biases, it drops here.
    twin.train()
    twin.train(model.training)
    return twin


def _can_change(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() and not _repeats_memory(tensor)


def _repeats_memory(tensor: torch.Tensor) -> bool:
    """Whether elements share memory (an expanded buffer), so that no write in place is defined."""
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    return any(size > 1 and stride == 0 for size, stride in sizes)


def changed_leaves(before: Any, after: Any) -> tuple[str, ...]:
    """Paths of the leaves that are not the same bit by bit, or that only one side has."""
    left, right = leaves(before), leaves(after)
    names = [*left, *(name for name in right if name not in left)]
    return tuple(n for n in names if not _identical(left.get(n), right.get(n)))


def _identical(left: Any, right: Any) -> bool:
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        if left.shape != right.shape or left.dtype != right.dtype:
            return False
        return bool(((left == right) | ((left != left) & (right != right))).all())
    return type(left) is type(right)
