"""Classifiers that read the last end-of-sequence token, wherever it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import Target, TracePatch, names_in_code
from exporters.neuron.patches.replacing import replace_in

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["LAST_TOKEN"]


def find(model: nn.Module) -> list[nn.Module]:
    """The modules that pick the states of a token and take each sequence's last.

    As BART's: ``states[eos_mask, :].view(batch, -1, width)[:, -1, :]``, after a check that all
    sequences have as many of it.
    """
    wanted = {"unique_consecutive", "classification_head", "eos_token_id"}
    return [m for m in model.modules() if wanted <= set(names_in_code(type(m).forward))]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Let the forward of these modules pick the last alone."""
    for module in modules:
        replace_in(module, "forward", _replacements)


def _replacements() -> dict[Any, Callable[..., Any]]:
    import torch

    return {
        torch.unique_consecutive: _unique_consecutive,
        torch.Tensor.__getitem__: partial(_getitem, torch.Tensor.__getitem__),
    }


def _unique_consecutive(counts: torch.Tensor, *others: Any, **named: Any) -> torch.Tensor:
    """What there is if all sequences have the same count, which a graph cannot tell."""
    return counts[:1]


def _getitem(original: Callable[..., Any], states: torch.Tensor, index: Any) -> Any:
    mask = index[0] if isinstance(index, tuple) and len(index) == 2 else None
    if mask is None or states.dim() != 3 or not _is_mask(mask) or index[1] != slice(None):
        return original(states, index)
    return _last(states, mask)


def _last(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The state of the last position of each sequence that the mask has.

    Args:
        states: Of shape (batch, sequence, width).
        mask: bool of shape (batch, sequence).

    Returns:
        Tensor of shape (batch, width).
    """
    import torch

    positions = torch.arange(mask.shape[1], device=mask.device)
    last = torch.where(mask, positions, 0).amax(1)
    chosen = last[:, None, None].expand(-1, 1, states.shape[-1])
    return states.gather(1, chosen).squeeze(1)


def _is_mask(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and value.dtype == torch.bool and value.dim() == 2


LAST_TOKEN: Final = TracePatch(
    name="last_token",
    summary="The last end-of-sequence token is gathered, however many there are before it.",
    targets=(
        Target(
            "transformers.models.bart.modeling_bart:BartForSequenceClassification.forward",
            uses=("unique_consecutive", "classification_head", "eos_token_id"),
        ),
    ),
    find=find,
    apply=apply,
    mentions=("unique_consecutive",),
)
