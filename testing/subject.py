"""What a test class hands to the pipeline: a model and the inputs to run it on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch

__all__ = ["Inputs", "Subject"]


class Inputs(Protocol):
    """Inputs of one model: those of the trace, and fresh ones for the comparison.

    Attributes:
        batch_size: Batch of the traced inputs.
        families: Names of the fresh sets, such as ``noise``, ``unpadded``, ``ramp``.
    """

    batch_size: int
    families: tuple[str, ...]

    @property
    def unchanged(self) -> Mapping[str, str]:
        """Leaves in which no fresh set can differ from the traced one, each with why."""

    @property
    def axes(self) -> Mapping[str, int]:
        """Named axes besides the batch that may have another size, each with its traced one.

        Such as ``{"length": 16, "decoder_length": 8}``.
        """

    def traced(self) -> dict[str, Any]:
        """Keyword inputs of the trace: real padding in the masks."""
        ...

    def fresh(
        self,
        family: str,
        batch_size: int | None = None,
        lengths: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        """Keyword inputs that differ from the traced ones in every leaf but `unchanged`.

        Args:
            family: One of `families`.
            batch_size: Size of axis 0 of every batched leaf; the traced one by default.
            lengths: Sizes of some of `axes`; the others keep that of the trace.
        """
        ...


@dataclass(frozen=True)
class Subject:
    """A model in eval mode on the CPU, and its inputs.

    Attributes:
        model: The model, randomly initialised under a fixed seed or loaded from a checkpoint.
        inputs: Its inputs.
        exceptions: Flags of the model that were changed from transformers' defaults, each with
            its reason; they are counted in every summary and do not count as reached.
        is_trained: Whether the weights are a checkpoint's: nothing of the model is then steadied
            for the comparison, and no copy of it is made to try other weights.
        read_positions: From an output of the model and its inputs, for leaves by path a bool
            tensor with the leaf's leading axes: positions from which anything is read later, and
            which are compared. None where the inputs' mask tells all.
    """

    model: torch.nn.Module
    inputs: Inputs
    exceptions: tuple[str, ...] = ()
    is_trained: bool = False
    read_positions: Callable[[Any, Mapping[str, Any]], dict[str, torch.Tensor]] | None = None
