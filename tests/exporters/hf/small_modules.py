"""Modules of a few ops, each with what one field report is about."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Swapped(nn.Module):
    """Two arguments of one shape, a flag and holes; the output's keys are not in order."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([2.0, 3.0, 5.0]))

    def forward(
        self,
        first: torch.Tensor,
        second: torch.Tensor,
        mask: torch.Tensor | None = None,
        doubled: bool = True,
        types: torch.Tensor | None = None,
    ) -> dict[str, torch.Tensor]:
        """`first` counts as it is, `second` weighted, `types` tenfold."""
        total = first + second * self.weight * (2 if doubled else 1)
        if mask is not None:
            total = total * mask
        if types is not None:
            total = total + 10 * types
        return {"b": total + 1, "a": first * 2}


class Positioned(nn.Module):
    """Learned positions that count from the first real token; transformers computes them."""

    def __init__(self) -> None:
        super().__init__()
        self.positions = nn.Embedding(16, 4)
        self.tokens = nn.Embedding(16, 4)

    def get_rope_index(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> tuple[torch.Tensor, None]:
        """As the models that have three axes of positions call it."""
        return (attention_mask.cumsum(-1) - 1).clamp(min=0), None

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        position_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Tokens and positions."""
        if position_ids is None:
            position_ids, _ = self.get_rope_index(input_ids, attention_mask)
        return self.tokens(input_ids) + self.positions(position_ids)


class Tied(nn.Module):
    """One weight under two names, a buffer that is saved and one that is not."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(8, 4)
        self.head = nn.Linear(4, 8, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("shift", torch.randn(4))
        self.register_buffer("scale", torch.randn(4), persistent=False)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        """Logits."""
        shift: Any = self.shift
        scale: Any = self.scale
        return self.head(self.embed(input_ids) * scale + shift)


class Attending(nn.Module):
    """Attention over a bool mask."""

    def forward(self, query: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Each query attends to what its row of the mask lets it see."""
        return nn.functional.scaled_dot_product_attention(query, query, query, attn_mask=mask)


class Unread(nn.Module):
    """It takes an argument that it does not read."""

    def forward(self, values: torch.Tensor, unread: torch.Tensor) -> torch.Tensor:
        """Twice the values."""
        return values * 2


class Raising(nn.Module):
    """It cannot be traced, and has changed itself by then."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: torch.Tensor | None = None

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Read a value, as no trace can."""
        self.kept = values * 2
        if float(values.sum()) > 0:
            return values
        return self.kept


class Caching(nn.Module):
    """One step of decoding: it appends to a cache and returns it."""

    def forward(self, values: torch.Tensor, cache: Any) -> dict[str, Any]:
        """The sum over all that was ever seen.

        Args:
            values: Of shape (batch, heads, 1, features).
            cache: A cache of transformers with one layer.
        """
        keys, seen = cache.update(values, values * 2, 0)
        return {"sum": (keys + seen).sum(2), "cache": cache}


class Wide(nn.Module):
    """Integers that do not fit into 32 bits."""

    def forward(self, values: torch.Tensor) -> dict[str, torch.Tensor]:
        """Their magnitude, and the larger two."""
        return {"abs": values.abs(), "top": values.topk(2).values}


class Assigning(nn.Module):
    """Assignment through a bool mask.

    Args:
        how: ``scalar``, ``vector``, ``added`` or ``rows``.
    """

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def forward(
        self, values: torch.Tensor, mask: torch.Tensor, given: torch.Tensor
    ) -> torch.Tensor:
        """`values` with something else where `mask` is true."""
        result = values.clone()
        if self.how == "scalar":
            result[mask] = 0.0
        elif self.how == "vector":
            result[mask] = given
        elif self.how == "added":
            result[mask] += 1.0
        else:
            result[mask[:, 0]] = -1.0
        return result
