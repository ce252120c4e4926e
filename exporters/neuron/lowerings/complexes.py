"""Complex tensors: what torch_xla does not make of, or read from, their two real parts.

Products, sums and views of complex tensors have a lowering of torch_xla's own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from exporters.neuron.lowerings.base import Lowering
from exporters.neuron.lowerings.parts import broadcast, join_complex, split_complex

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]


def polar(abs: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    """``aten::polar``: complex numbers of absolute value and angle, floats of one dtype."""
    radius, angle = broadcast(abs, angle)
    return join_complex(radius * angle.cos(), radius * angle.sin())


def complex_(real: torch.Tensor, imag: torch.Tensor) -> torch.Tensor:
    """``aten::complex``: complex numbers of two real parts."""
    return join_complex(*broadcast(real, imag))


def angle(self: torch.Tensor) -> torch.Tensor:
    """``aten::angle``: in (-pi, pi]; of real numbers 0 or pi, and NaN of NaN."""
    import torch

    if self.is_complex():
        real, imaginary = split_complex(self)
        return torch.atan2(imaginary, real)
    values = self if self.is_floating_point() else self.to(torch.get_default_dtype())
    angles = values.new_full((), math.pi).where(values < 0, 0)
    return torch.where(values.isnan(), values, angles)


def conj_physical(self: torch.Tensor) -> torch.Tensor:
    """``aten::_conj_physical``: the conjugate, in memory of its own."""
    if not self.is_complex():
        return self.clone()
    real, imaginary = split_complex(self)
    return join_complex(real, -imaginary)


def _covers_floats(first: torch.Tensor, second: torch.Tensor) -> bool:
    """XLA has no complex numbers of halves."""
    import torch

    return first.dtype == second.dtype and first.dtype in (torch.float32, torch.float64)


def _covers_complex(self: torch.Tensor) -> bool:
    import torch

    return self.dtype != torch.complex32


LOWERINGS: Final = (
    Lowering(
        op="aten::polar",
        function=polar,
        covers=_covers_floats,
        summary="Cosine and sine times the absolute value, viewed as complex numbers.",
        source="pytorch.org/docs/stable/generated/torch.polar.html",
    ),
    Lowering(
        op="aten::complex",
        function=complex_,
        covers=_covers_floats,
        summary="The two parts stacked, viewed as complex numbers.",
        source="pytorch.org/docs/stable/generated/torch.complex.html",
    ),
    Lowering(
        op="aten::angle",
        function=angle,
        covers=_covers_complex,
        summary="The arc tangent of the two parts.",
        source="pytorch.org/docs/stable/generated/torch.angle.html",
    ),
    Lowering(
        op="aten::_conj_physical",
        function=conj_physical,
        covers=_covers_complex,
        summary="The imaginary part negated.",
        source="pytorch.org/docs/stable/generated/torch.conj_physical.html",
    ),
)
