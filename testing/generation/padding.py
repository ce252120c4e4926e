"""Positions of a prefill that nothing is ever read from: the padding on the left of a prompt.

A padded position may attend to nothing, so that what it computes is anybody's choice, and a cache
keeps it. `testing.comparison.masks` leaves out such positions where a mask of two axes tells
them; the mask of a static cache has four, and the cache itself more positions than there are yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from exporters.tree import tensor_leaves
from testing.comparison.masks import KEYS_OF_HEADS, in_cache

__all__ = ["read_positions"]


def read_positions(output: Any, inputs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """For each leaf of a prefill's output that has padded positions, what is compared of it.

    Args:
        output: Eager's output.
        inputs: Keyword inputs of the prefill.
    """
    real = _real(inputs)
    if real is None or bool(real.all()) or not bool(real.any(1).all()):
        return {}
    masks = {path: _mask(path, leaf, real) for path, leaf in tensor_leaves(output).items()}
    return {path: mask for path, mask in masks.items() if mask is not None}


def _real(inputs: Mapping[str, Any]) -> torch.Tensor | None:
    """Which positions attend to anything, (batch, positions), bool; None where no mask tells."""
    tokens = inputs.get("input_ids")
    masks = list(tensor_leaves(inputs.get("attention_mask")).values())
    if not isinstance(tokens, torch.Tensor) or not masks:
        return None
    found = [_attending(mask) for mask in masks if mask.ndim in (2, 4)]
    fitting = [real for real in found if real.shape == tokens.shape]
    return fitting[0] if fitting else None


def _attending(mask: torch.Tensor) -> torch.Tensor:
    """Of (batch, positions), or of (batch, heads, positions, keys) in bools or biases."""
    if mask.ndim == 2:
        return mask != 0
    allowed = mask > torch.finfo(mask.dtype).min / 2 if mask.is_floating_point() else mask != 0
    return allowed.any(-1).any(1)


def _mask(path: str, leaf: torch.Tensor, real: torch.Tensor) -> torch.Tensor | None:
    batch, length = real.shape
    if not in_cache(path):
        return real if leaf.shape[:2] == real.shape else None
    # A cache that slides may hold fewer positions, and which ones is its own affair.
    if leaf.ndim != KEYS_OF_HEADS or leaf.shape[0] != batch or leaf.shape[2] < length:
        return None
    read = torch.ones(leaf.shape[:3], dtype=torch.bool)
    read[:, :, :length] = real.unsqueeze(1)
    return read
