"""Experts that share out tokens sorted by expert, by a list of how many each has."""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.experts.every_token import mark, on_every_token
from exporters.neuron.patches.experts.form import Form, names_in

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["SIZED"]

_METHODS: Final = ("forward", "map", "reduce")
"""Those of GraniteMoe's and JetMoe's mixtures, and of JetMoe's mixture of attention heads."""


def _fits(module: nn.Module) -> bool:
    router = getattr(module, "router", None)
    gates = router is not None and {"topk", "tolist", "sort"} <= names_in(router, "forward")
    return gates and hasattr(module, "input_linear")


def _rewrite(module: nn.Module) -> None:
    router: Any = module.router
    router.forward = MethodType(_forward, router)
    for method in _METHODS:
        if hasattr(type(module), method):
            on_every_token(module, method)


def _forward(router: Any, hidden_states: torch.Tensor) -> tuple[Any, ...]:
    """As the router's own, but that every expert has every token, and the weight 0 for most.

    Args:
        router: A ``TopKGating``.
        hidden_states: Of shape (tokens, width).

    Returns:
        For each expert in turn and each token: the slot, counted over all tokens' slots, and the
        token, both int64 of shape (experts * tokens,), and the weight; how many tokens each
        expert has; and the router's logits, of shape (tokens, experts).
    """
    import torch

    logits = router.layer(hidden_states).float()
    top_logits, top_experts = logits.topk(router.top_k, dim=1)
    weights = torch.softmax(top_logits, dim=1).type_as(hidden_states)
    count = len(hidden_states)
    chosen = torch.arange(router.num_experts, device=logits.device)[:, None, None] == top_experts
    taken = chosen.any(-1).flatten()
    tokens = torch.arange(count, device=logits.device).repeat(router.num_experts)
    slots = tokens * router.top_k + chosen.to(torch.uint8).argmax(-1).flatten()
    dense = torch.where(chosen, weights, 0).sum(-1).flatten()
    return mark(slots, taken), mark(tokens, taken), dense, [count] * router.num_experts, logits


SIZED: Final = Form(fits=_fits, rewrite=_rewrite)
"""GraniteMoe's and JetMoe's: ``inputs.split(expert_size.tolist())``."""
