"""Features as processors leave them."""

from __future__ import annotations

import torch

from testing.inputs.domains import Domain, Kind

__all__ = ["floats"]


def floats(shape: tuple[int, ...], mask: str | None = None, shortest: int | None = None) -> Domain:
    """Features of a shape without its batch axis; noise of them has mean 0 and deviation 1."""
    return Domain(
        Kind.FLOAT, shape, dtype=torch.float32, low=-6, high=6, mask=mask, shortest=shortest
    )
