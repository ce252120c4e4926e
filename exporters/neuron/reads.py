"""Values that a trace read, and so fixed in its program."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from exporters.base import BakedRead
from exporters.neuron.frames import model_lines
from exporters.neuron.origins import Origin, Origins

__all__ = ["ReadLog"]


class ReadLog:
    """The values that were read from the inputs of one trace.

    Args:
        origins: What the placeholders and inputs of the trace are called.

    Attributes:
        found: The reads, each once, in order.
    """

    def __init__(self, origins: Origins) -> None:
        self.origins = origins
        self.found: dict[BakedRead, None] = {}

    def origins_of(self, operands: Sequence[torch.Tensor]) -> tuple[Origin, ...]:
        """Every weight and input that `operands` are or derive from."""
        found = [origin for operand in operands for origin in self.origins.of(operand)]
        return tuple(dict.fromkeys(found))

    def note(self, op: str, origins: Sequence[Origin]) -> None:
        """Record that the model's current line read what derives from `origins`."""
        names = tuple(dict.fromkeys(o.name for o in origins if not o.is_placeholder))
        if names:
            lines = model_lines()
            self.found.setdefault(BakedRead(op, names, lines[0] if lines else None))
