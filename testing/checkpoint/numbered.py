"""Inputs of which each sample is made from its number, through a checkpoint's own processor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Final

__all__ = ["NumberedInputs"]

_APART: Final = 100
"""Between the first numbers of two sets; more than a batch has samples."""


class NumberedInputs(ABC):
    """Samples of one size.

    Attributes:
        plural: What they are called.
        batch_size: Batch of the traced inputs.
        families: Names of the fresh sets.
        unchanged: Leaves that the processor gives for every sample alike.
        axes: None: a processor gives samples of one size.
    """

    plural: ClassVar[str]
    families: tuple[str, ...]
    axes: Mapping[str, int] = MappingProxyType({})

    def __init__(self, processor: Any, batch_size: int = 2) -> None:
        """Process with `processor`, the checkpoint's own."""
        self._processor = processor
        self.batch_size = batch_size
        self.unchanged: Mapping[str, str] = {
            name: f"{self.plural} of one size have no padding"
            for name in self.traced()
            if name.endswith("mask")
        }

    def traced(self) -> dict[str, Any]:
        """The first samples."""
        return self._processed(range(self.batch_size))

    def fresh(
        self,
        family: str,
        batch_size: int | None = None,
        lengths: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        """Others."""
        first = _APART * (1 + self.families.index(family))
        return self._processed(range(first, first + (batch_size or self.batch_size)))

    @abstractmethod
    def _processed(self, numbers: Sequence[int]) -> dict[str, Any]:
        """What the processor makes of the samples of these numbers."""
