"""The elements of two leaves that are compared, and which of them are wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import torch

from testing.comparison.allowance import allowance
from testing.registry.entries import Tolerance

__all__ = ["CONSTANT_STD", "Elements", "plain"]

CONSTANT_STD: Final = 1e-6
"""Standard deviation over elements under which an eager leaf proves nothing."""


@dataclass(frozen=True)
class Elements:
    """The compared elements of two leaves of one layout, flat.

    Attributes:
        eager: Eager's values in float64.
        exported: The exported model's values in float64.
        difference: Absolute differences in float64; infinite where one value is not finite.
        allowed: How far each may be off.
        special: Where a NaN or infinity is not matched.
        positions: Flat positions in the leaf.
    """

    eager: torch.Tensor
    exported: torch.Tensor
    difference: torch.Tensor
    allowed: torch.Tensor
    special: torch.Tensor
    positions: torch.Tensor

    @classmethod
    def of(
        cls,
        eager: torch.Tensor,
        exported: torch.Tensor,
        tolerance: Tolerance,
        mask: torch.Tensor | None = None,
    ) -> Elements:
        """The elements of two leaves that `plain` returned.

        Args:
            eager: Eager's leaf.
            exported: The exported leaf, of the same shape and dtype.
            tolerance: How far a floating element may be off.
            mask: bool with the leaf's leading axes, True where elements are compared.
        """
        positions = _compared_positions(eager, mask)
        left, right = eager.flatten(), exported.flatten()
        if mask is not None:
            left, right = left[positions], right[positions]
        if eager.is_floating_point():
            return _within(left, right, positions, tolerance)
        return _exact(left, right, positions)

    @property
    def wrong(self) -> torch.Tensor:
        """Where an element is further off than it may be, or a special value is not matched."""
        return self.special | (self.difference > self.allowed)

    @property
    def mismatched(self) -> float:
        """Share of the elements that are wrong."""
        return int(self.wrong.count_nonzero()) / self.wrong.numel()

    @property
    def worst(self) -> int:
        """Index, among these elements, of the one that exceeds its allowance most."""
        excess = torch.where(self.special, math.inf, self.difference - self.allowed)
        return int(excess.argmax())

    @property
    def is_constant(self) -> bool:
        """Whether several elements of eager hold one value, or none holds a finite one.

        One element alone has no spread; agreeing with it says as much as one number can.
        """
        finite = self.eager[self.eager.isfinite()]
        if not finite.numel():
            return True
        return self.eager.numel() > 1 and float(finite.std(correction=0)) < CONSTANT_STD


def plain(leaf: torch.Tensor) -> torch.Tensor:
    """A dense real tensor on the CPU; a complex one gets a last axis of two."""
    leaf = leaf.detach().cpu()
    leaf = leaf if leaf.layout == torch.strided else leaf.to_dense()
    return torch.view_as_real(leaf.resolve_conj()) if leaf.is_complex() else leaf


def _compared_positions(leaf: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    if mask is None:
        return torch.arange(leaf.numel())
    trailing = [1] * (leaf.dim() - mask.dim())
    return mask.reshape(*mask.shape, *trailing).expand(leaf.shape).flatten().nonzero()[:, 0]


def _exact(left: torch.Tensor, right: torch.Tensor, positions: torch.Tensor) -> Elements:
    """Elements of an integer or bool leaf, compared in their own dtype.

    Above 2**53 two integers can share one float64, so differences are those of integers, unless
    they are so large that int64 would not hold them.
    """
    eager, exported = left.double(), right.double()
    rounded, whole = (eager - exported).abs(), (left.long() - right.long()).abs()
    difference = torch.where(rounded < 2.0**62, whole.double(), rounded)
    nothing = torch.zeros_like(difference)
    return Elements(eager, exported, difference, nothing, nothing.bool(), positions)


def _within(
    left: torch.Tensor, right: torch.Tensor, positions: torch.Tensor, tolerance: Tolerance
) -> Elements:
    """Elements of a floating leaf."""
    eager, exported = left.double(), right.double()
    finite = eager.isfinite() & exported.isfinite()
    matched = (eager.isnan() & exported.isnan()) | (eager == exported)
    special = ~finite & ~matched
    difference = torch.where(finite, (eager - exported).abs(), 0.0)
    difference = torch.where(special, math.inf, difference)
    allowed = allowance(eager, left.dtype, tolerance)
    return Elements(eager, exported, difference, allowed, special, positions)
