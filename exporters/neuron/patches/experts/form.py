"""A form in which models are written that route tokens to experts."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exporters.neuron.patches.base import names_in_code

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["Form", "mixed", "names_in", "takes"]


@dataclass(frozen=True)
class Form:
    """How modules of many models do the same, by which they are known, whatever their names.

    Attributes:
        fits: Whether a module is written so.
        rewrite: Puts other methods on such a module, on the instance alone.
    """

    fits: Callable[[nn.Module], bool]
    rewrite: Callable[[nn.Module], None]


def names_in(module: nn.Module, method: str) -> frozenset[str]:
    """Globals and attributes that the class's own `method` refers to; none if it has none."""
    return frozenset(names_in_code(getattr(type(module), method, None)))


def takes(module: nn.Module, method: str) -> int:
    """How many arguments the class's own `method` takes besides the module; 0 if it has none."""
    found = getattr(type(module), method, None)
    return len(inspect.signature(found).parameters) - 1 if found else 0


def mixed(output: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """What one expert adds to every token, 0 for the tokens that are not routed to it.

    Args:
        output: The expert's output for every token, of shape (tokens, width).
        chosen: Where the router chose the expert: bool of shape (tokens, top_k).
        weights: The router's weights, of shape (tokens, top_k).

    Returns:
        Tensor of shape (tokens, width), in the wider of both dtypes.
    """
    import torch

    weight = torch.where(chosen, weights, 0).sum(-1, keepdim=True)
    # Not by a weight of 0 alone: what an expert makes of another's token may be infinite.
    return torch.where(chosen.any(-1, keepdim=True), output * weight, 0)
