"""Grounding DINO's phrases between special tokens, found without a loop over the tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import Target, TracePatch, names_in_code
from exporters.neuron.patches.rebinding import rebind

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["SPECIAL_TOKENS"]

_NAME: Final = "generate_masks_with_special_tokens_and_transfer_map"


def find(model: nn.Module) -> list[nn.Module]:
    """The modules that attend within phrases."""
    return [m for m in model.modules() if _NAME in names_in_code(type(m).forward)]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Find the phrases of all sequences at once."""
    for module in modules:
        rebind(module, "forward", {_NAME: _wrap})


def _wrap(original: Any) -> Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
    special = original.__globals__["SPECIAL_TOKENS"]
    return lambda input_ids: phrases(input_ids, special)


def phrases(input_ids: torch.Tensor, special: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Which tokens attend to which, and the place of each in its phrase.

    A phrase ends with a special token that is neither the first nor the last of its sequence,
    and begins behind the special token before, which may be one of the sequence before: the
    model does not start anew.

    Args:
        input_ids: int64 of shape (batch, tokens).
        special: The tokens that end phrases.

    Returns:
        bool of shape (batch, tokens, tokens); int64 of shape (batch, tokens).
    """
    import torch

    tokens = input_ids.shape[1]
    places = torch.arange(tokens, device=input_ids.device)
    ends = (input_ids[..., None] == torch.tensor(special, device=input_ids.device)).any(-1)
    # For each token its phrase's end, for each end the one before.
    end = places.where(ends[:, None] & (places >= places[:, None]), tokens).amin(-1)
    before = places.where(ends[:, None] & (places < places[:, None]), -1).amax(-1)
    before = before.where(before >= 0, _carried(places.where(ends, -1).amax(-1))[:, None])
    start = before.gather(1, end.clamp(max=tokens - 1))
    inside = (end > 0) & (end < tokens - 1) & (places > start)
    together = (end[:, :, None] == end[:, None]) & inside[:, :, None] & inside[:, None]
    alone = places == places[:, None]
    return together | alone, (places - start - 1).where(inside, 0)


def _carried(last: torch.Tensor) -> torch.Tensor:
    """For each sequence the place of the last special token of those before it, 0 for none.

    Args:
        last: Of shape (batch,): that of each sequence itself, -1 for none.
    """
    import torch

    carried, found = torch.zeros_like(last[0]), []
    for own in last:
        found.append(carried)
        carried = own.where(own >= 0, carried)
    return torch.stack(found)


SPECIAL_TOKENS: Final = TracePatch(
    name="special_tokens",
    summary="The phrases between special tokens are found by comparing places.",
    targets=tuple(
        Target(f"transformers.models.{place}.forward", uses=(_NAME,))
        for place in (
            "grounding_dino.modeling_grounding_dino:GroundingDinoModel",
            "mm_grounding_dino.modeling_mm_grounding_dino:MMGroundingDinoModel",
        )
    ),
    find=find,
    apply=apply,
    mentions=(_NAME,),
    requires="transformers<5",
)
