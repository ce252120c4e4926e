"""What surrounds the forward of a trace: the guard, and the lowerings that it applies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import torch

from exporters.base import BakedRead, Selection
from exporters.neuron import lazy
from exporters.neuron.errors import UnknownLoweringError
from exporters.neuron.folding import Folds
from exporters.neuron.guard import LoweringGuard
from exporters.neuron.lowerer import Lowerer
from exporters.neuron.lowerings import lowering_names
from exporters.neuron.origins import Origins, named_weights
from exporters.neuron.reads import ReadLog

__all__ = ["NO_LOWERINGS", "Seen", "Watcher"]

NO_LOWERINGS: Final = Selection(everything=False)


@dataclass(frozen=True)
class Seen:
    """What was seen of a trace.

    Attributes:
        baked_reads: Values read from inputs.
        lowerings: Names of what was folded and lowered.
        folds: What was folded.
    """

    baked_reads: tuple[BakedRead, ...]
    lowerings: tuple[str, ...]
    folds: Folds


class Watcher:
    """Surrounds the forwards of one trace.

    Args:
        weights: The model's weights by name, on the CPU.
        guarded: Whether an op that would kill the process raises instead.
        lowerings: Lowerings that may be applied.

    Raises:
        UnknownLoweringError: `lowerings` names one that does not exist.
    """

    def __init__(
        self, weights: Mapping[str, torch.Tensor], guarded: bool, lowerings: Selection
    ) -> None:
        self._weights = weights
        self._guarded = guarded
        self._lowerings = _known(lowerings)
        self._reads: dict[BakedRead, None] = {}
        self._applied: dict[str, None] = {}
        self._folds = Folds()

    @property
    def seen(self) -> Seen:
        """What there was in the forwards so far."""
        return Seen(tuple(self._reads), tuple(self._applied), self._folds)

    @contextmanager
    def forward(
        self,
        model: torch.nn.Module,
        placeholders: Mapping[str, torch.Tensor],
        origins: Origins,
    ) -> Iterator[None]:
        """Watch one forward of `model` with `placeholders` as its weights."""
        if not (self._guarded or self._lowerings):
            yield
            return
        reads, lowerer = ReadLog(origins), None
        if self._lowerings:
            lowerer = Lowerer(self._lowerings, reads, placeholders, self._weights, self._folds)
        with LoweringGuard(model, reads, lowerer, self._guarded):
            yield
        self._reads.update(reads.found)
        self._applied.update(lowerer.applied if lowerer else {})

    @contextmanager
    def of_tracer(
        self, model: torch.nn.Module, inputs: Mapping[str, torch.Tensor]
    ) -> Iterator[None]:
        """Watch a forward that another tracer runs, on placeholders of its own; see `FlatForward`.

        Where the tracer has put no placeholder, there is nothing to watch.
        """
        placeholders = {n: w for n, w in named_weights(model).items() if lazy.is_placeholder(w)}
        lazy_inputs = {name: x for name, x in inputs.items() if x.device.type == "xla"}
        if not placeholders:
            yield
            return
        with self.forward(model, placeholders, Origins(model, placeholders, lazy_inputs)):
            yield


def _known(lowerings: Selection) -> Selection:
    unknown = sorted(lowerings.names - set(lowering_names()))
    if unknown:
        raise UnknownLoweringError(
            f"no lowering is called {', '.join(unknown)}; there are: {', '.join(lowering_names())}"
        )
    return lowerings
