"""A tiny model whose greedy tokens tell one context from another.

Tiny random models repeat one token whatever they are given: their head is tied to the embedding,
which finds again the token that went in. So the head gets weights of its own, at a scale at which
the best token is clearly ahead, and the first of a fixed series of such heads under which the
tokens differ.
"""

from __future__ import annotations

from typing import Any, Final

import torch

from testing.generation.conditions import shortcomings
from testing.generation.loop import Generated, Loop
from testing.registry.entries import Tolerance

__all__ = ["distinguish"]

_TRIES: Final = 96
_SPREAD: Final = 8.0
# The widest of the backends' defaults, so that all of them get the same weights.
_TOLERANCE: Final = Tolerance(1e-3, 1e-3)


def distinguish(loop: Loop, seed: int = 0) -> None:
    """Give the model of `loop` the first head under which its own tokens have no shortcomings.

    It keeps the last one where none of the series does, and where it has no head of its own it
    keeps its weights: then the result of the loop says what does not hold.
    """
    head = _untied(loop.model)
    if head is None:
        return
    generator = torch.Generator().manual_seed(seed)
    scale = 1.0
    for attempt in range(_TRIES):
        _fill(head, generator, scale)
        found = loop.eager()
        if attempt == 0:
            # Of the first one alone; a head that bounds its logits is not made stronger forever.
            scale = _SPREAD / _spread(found)
            _scale(head, scale)
            found = loop.eager()
        if not shortcomings(found, _TOLERANCE):
            return


def _untied(model: Any) -> torch.nn.Module | None:
    """The head, with a weight that it shares with nothing; None where it has no matrix."""
    head = model.get_output_embeddings()
    weight = getattr(head, "weight", None)
    if not isinstance(weight, torch.nn.Parameter) or weight.ndim != 2:
        return None
    head.weight = torch.nn.Parameter(weight.detach().clone(), requires_grad=False)
    found: torch.nn.Module = head
    return found


@torch.no_grad()
def _fill(head: torch.nn.Module, generator: torch.Generator, scale: float) -> None:
    weight = head.get_parameter("weight")
    noise = torch.randn(weight.shape, generator=generator)
    weight.copy_(scale * noise / weight.shape[1] ** 0.5)


@torch.no_grad()
def _scale(head: torch.nn.Module, scale: float) -> None:
    head.get_parameter("weight").mul_(scale)


def _spread(generated: Generated) -> float:
    return max(float(torch.stack(generated.logits).std()), 1e-6)
