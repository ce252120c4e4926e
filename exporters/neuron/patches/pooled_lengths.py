"""Speakers' embeddings: mean and deviation over as many frames as each recording has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import Target, TracePatch, names_in_code
from exporters.neuron.patches.replacing import replace_in

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["POOLED_LENGTHS"]

_USES: Final = ("tdnn", "_get_tdnn_output_lengths", "mean", "std")


def find(model: nn.Module) -> list[nn.Module]:
    """The modules that pool the first frames of each recording, as Wav2Vec2ForXVector."""
    return [m for m in model.modules() if set(_USES) <= set(names_in_code(type(m).forward))]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Pool by weights of 0 and 1."""
    for module in modules:
        replace_in(module, "forward", _replacements)


def _replacements() -> dict[Any, Callable[..., Any]]:
    import torch

    return {torch.Tensor.__getitem__: partial(_getitem, torch.Tensor.__getitem__)}


def _getitem(original: Callable[..., Any], states: torch.Tensor, index: Any) -> Any:
    import torch

    rows = index[1] if isinstance(index, tuple) and len(index) == 2 else None
    if isinstance(rows, slice) and isinstance(rows.stop, torch.Tensor):
        return _First(states[index[0]], rows.stop)
    return original(states, index)


@dataclass(frozen=True)
class _First:
    """The first frames of one recording.

    Attributes:
        states: Of shape (frames, width).
        stop: Scalar; how many, from the end where it is negative.
    """

    states: torch.Tensor
    stop: torch.Tensor

    def mean(self, dim: int) -> torch.Tensor:
        """The mean along axis 0, NaN of none."""
        return self.states.where(self._mask(), 0).sum(dim) / self._count()

    def std(self, dim: int) -> torch.Tensor:
        """The deviation along axis 0, NaN of one or none."""
        squares = (self.states - self.mean(dim)).square().where(self._mask(), 0)
        return (squares.sum(dim) / (self._count() - 1).clamp(min=0)).sqrt()

    def _count(self) -> torch.Tensor:
        frames = len(self.states)
        count: torch.Tensor = self.stop.where(self.stop >= 0, self.stop + frames)
        return count.clamp(0, frames)

    def _mask(self) -> torch.Tensor:
        import torch

        return torch.arange(len(self.states), device=self.states.device)[:, None] < self._count()


POOLED_LENGTHS: Final = TracePatch(
    name="pooled_lengths",
    summary="Mean and deviation over a recording's own frames are taken with the others as 0.",
    targets=(
        Target("transformers.models.wav2vec2.modeling_wav2vec2:Wav2Vec2ForXVector.forward", _USES),
    ),
    find=find,
    apply=apply,
    mentions=("_get_tdnn_output_lengths",),
    tolerance=1e-5,
    requires="transformers<5",
)
