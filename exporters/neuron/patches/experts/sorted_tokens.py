"""Experts that get what the router chose as arguments, or tokens sorted by expert."""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.experts.form import Form, mixed, names_in, takes

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["GROUPED", "ROUTED"]


def _is_routed(module: nn.Module) -> bool:
    return hasattr(module, "experts") and takes(module, "moe") == 3


def _rewrite_routed(module: nn.Module) -> None:
    module.moe = MethodType(_moe, module)  # type: ignore[assignment]


def _moe(
    module: Any, hidden_states: torch.Tensor, top_experts: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """The sum of every expert's output, by the router's weights.

    Args:
        module: What has the experts.
        hidden_states: Of shape (tokens, width).
        top_experts: int64 of shape (tokens, top_k).
        weights: Of shape (tokens, top_k).
    """
    import torch

    total = torch.zeros_like(hidden_states, dtype=weights.dtype)
    for number, expert in enumerate(module.experts):
        total = total + mixed(expert(hidden_states), top_experts == number, weights)
    return total.type(hidden_states.dtype)


def _is_grouped(module: nn.Module) -> bool:
    return {"histc", "argsort", "experts", "shared_experts"} <= names_in(module, "forward")


def _rewrite_grouped(module: Any) -> None:
    module.forward = MethodType(_grouped_forward, module)
    for linear in (module.experts.fc1, module.experts.fc2):
        linear.forward = MethodType(_linear, linear)


def _linear(linear: Any, inputs: torch.Tensor, _: Any) -> torch.Tensor:
    """Every expert's product with its inputs, of shape (experts, tokens, width)."""
    product: torch.Tensor = inputs @ linear.weight
    return product


def _grouped_forward(layer: Any, hidden_states: torch.Tensor) -> torch.Tensor:
    """As the layer's own, but that every expert has every token.

    Args:
        layer: Aria's mixture.
        hidden_states: Of shape (batch, sequence, width).
    """
    import torch

    tokens = hidden_states.reshape(-1, hidden_states.shape[-1])
    top_logits, top_experts = torch.topk(layer.router(tokens), k=layer.config.moe_topk, dim=1)
    weights = torch.nn.functional.softmax(top_logits, dim=-1)
    # Its products take the tokens of all experts at once.
    outputs = layer.experts(tokens.expand(layer.experts.fc1.groups, *tokens.shape), None)
    total = torch.zeros_like(tokens)
    for number, output in enumerate(outputs):
        total = total + mixed(output, top_experts == number, weights)
    shared: torch.Tensor = layer.shared_experts(hidden_states)
    return total.view(hidden_states.shape) + shared


ROUTED: Final = Form(fits=_is_routed, rewrite=_rewrite_routed)
"""DeepseekV2's and V3's: ``moe(hidden_states, topk_indices, topk_weights)``."""

GROUPED: Final = Form(fits=_is_grouped, rewrite=_rewrite_grouped)
"""Aria's of transformers 4: a product of all tokens, sorted by expert, with all experts."""
