"""Interpolation to a fixed size: ``torch.nn.functional.interpolate`` in the modes XLA lacks.

Every mode here treats one axis after the other, and along an axis it is a fixed choice of pixels
with fixed weights. Both are computed on the host, by ATen's own formulas (UpSample.h and
UpSampleKernel.cpp) in ATen's precision, since a rounding may choose another pixel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from exporters.neuron.lowerings.base import Lowering
from exporters.neuron.lowerings.parts import opmath_dtype, take
from exporters.neuron.lowerings.sampling import cubic_weights

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]

_CUBIC: Final = -0.75
_CUBIC_ANTIALIASED: Final = -0.5
_SOURCE: Final = "pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html"


@dataclass(frozen=True)
class Axis:
    """How one axis is resized.

    Attributes:
        size: Its length.
        target: The length wanted.
        scale: How many pixels of the input one of the output is, or None for that of the sizes.
        dtype: What ATen computes places and weights in.
        align_corners: Whether the middles of the outer pixels stay, or their edges.
    """

    size: int
    target: int
    scale: float | None
    dtype: torch.dtype
    align_corners: bool = False

    @property
    def step(self) -> torch.Tensor:
        """Pixels of the input per pixel of the output, a scalar in `dtype`."""
        import torch

        if self.align_corners:
            steps = (self.size - 1, self.target - 1) if self.target > 1 else (0, 1)
        elif self.scale is not None and self.scale > 0:
            return torch.tensor(1.0 / self.scale, dtype=self.dtype)
        else:
            steps = (self.size, self.target)
        return torch.tensor(float(steps[0]), dtype=self.dtype) / steps[1]

    @property
    def places(self) -> torch.Tensor:
        """Where the middle of each pixel of the output is, in pixels of the input."""
        import torch

        pixels = torch.arange(self.target, dtype=self.dtype)
        if self.align_corners:
            return self.step * pixels
        return self.step * (pixels + 0.5) - 0.5


Choice = tuple["torch.Tensor", "torch.Tensor"]
"""For each pixel of the output, (target, taps): pixels of the input, and their weights."""


def _linear(axis: Axis) -> Choice:
    import torch

    places = axis.places.clamp(min=0)
    first = places.long().clamp(max=axis.size - 1)
    weight = (places - first).clamp(0, 1)
    second = (first + 1).clamp(max=axis.size - 1)
    return torch.stack([first, second], 1), torch.stack([1 - weight, weight], 1)


def _cubic(axis: Axis) -> Choice:
    import torch

    places = axis.places
    first = places.floor().clamp(max=axis.size - 1)
    weights = cubic_weights((places - first).clamp(0, 1), _CUBIC)
    pixels = first.long()[:, None] + torch.arange(-1, 3)
    return pixels.clamp(0, axis.size - 1), torch.stack(weights, 1)


def _antialiased(axis: Axis, kernel: Callable[[torch.Tensor], torch.Tensor], reach: int) -> Choice:
    """A `kernel` that is zero from `reach` on, as wide as a pixel of the output."""
    import torch

    step = axis.step
    stretch = step.clamp(min=1)
    support = reach * stretch
    centers = step * (torch.arange(axis.target, dtype=axis.dtype) + 0.5)
    first = (centers - support + 0.5).long().clamp(min=0)
    end = (centers + support + 0.5).long().clamp(max=axis.size)
    taps = torch.arange(int((end - first).max()))
    pixels = first[:, None] + taps
    weights = kernel((pixels - centers[:, None] + 0.5) / stretch)
    weights = weights.where(pixels < end[:, None], 0)
    total = weights.sum(1, keepdim=True)
    # Where a scale leads outside of the image there is nothing to weigh.
    weights = weights / total.where(total != 0, 1)
    return pixels.clamp(max=axis.size - 1), weights


def _tent(x: torch.Tensor) -> torch.Tensor:
    return (1 - x.abs()).clamp(min=0)


def _bell(x: torch.Tensor) -> torch.Tensor:
    """Keys' cubic convolution."""
    distance = x.abs()
    far, near, _, _ = cubic_weights(distance - distance.floor(), _CUBIC_ANTIALIASED)
    return near.where(distance < 1, far).where(distance < 2, 0)


_CHOICES: Final[dict[str, Callable[[Axis], Choice]]] = {
    "linear": _linear,
    "cubic": _cubic,
    "linear_aa": partial(_antialiased, kernel=_tent, reach=1),
    "cubic_aa": partial(_antialiased, kernel=_bell, reach=2),
}


def _resize(
    mode: str,
    self: torch.Tensor,
    output_size: Sequence[int],
    align_corners: bool,
    *scales: float | None,
) -> torch.Tensor:
    """The last ``len(output_size)`` axes, the last one first, as ATen does."""
    dtype = opmath_dtype(self.dtype)
    result = self.to(dtype)
    given = (*scales, *[None] * len(output_size))
    for back, target in reversed(list(enumerate(output_size))):
        at = self.dim() - len(output_size) + back
        axis = Axis(self.shape[at], target, given[back], dtype, align_corners)
        result = _resampled(result, at, _CHOICES[mode](axis))
    return result.to(self.dtype)


def _resampled(tensor: torch.Tensor, at: int, choice: Choice) -> torch.Tensor:
    pixels, weights = choice
    trailing = [1] * (tensor.dim() - at - 1)
    weights = weights.to(tensor.device).reshape(*weights.shape, *trailing)
    return (take(tensor, at, pixels) * weights).sum(at + 1)


def _repeat(
    offset: float, self: torch.Tensor, output_size: Sequence[int], *scales: float | None
) -> torch.Tensor:
    """The pixel under the place `offset` of each pixel of the output."""
    result = self
    given = (*scales, *[None] * len(output_size))
    for back, target in enumerate(output_size):
        at = self.dim() - len(output_size) + back
        pixels = _nearest(offset, self.shape[at], target, given[back])
        result = take(result, at, pixels)
    return result


def _nearest(offset: float, size: int, target: int, scale: float | None) -> torch.Tensor:
    import torch

    # ATen computes these places in float32, whatever the dtype of the image.
    step = Axis(size, target, scale, torch.float32).step
    places = ((torch.arange(target, dtype=torch.float32) + offset) * step).floor()
    return places.long().clamp(max=size - 1)


def _covers_weights(self: torch.Tensor, output_size: Sequence[int], *_: object) -> bool:
    """ATen computes bytes in fixed point."""
    return self.is_floating_point() and _covers(self, output_size)


def _covers(self: torch.Tensor, output_size: Sequence[int], *_: object) -> bool:
    return 0 not in self.shape[self.dim() - len(output_size) :] and min(output_size) > 0


def _weighted(op: str, mode: str) -> Lowering:
    return Lowering(
        op=f"aten::{op}",
        function=partial(_resize, mode),
        covers=_covers_weights,
        summary="Pixels are selected and weighted, one axis after the other.",
        source=_SOURCE,
    )


def _repeating(op: str, offset: float) -> Lowering:
    return Lowering(
        op=f"aten::{op}",
        function=partial(_repeat, offset),
        covers=_covers,
        summary="Pixels are selected, one axis after the other.",
        source=_SOURCE,
    )


LOWERINGS: Final = (
    _weighted("upsample_linear1d", "linear"),
    _weighted("upsample_bicubic2d", "cubic"),
    _weighted("_upsample_bilinear2d_aa", "linear_aa"),
    _weighted("_upsample_bicubic2d_aa", "cubic_aa"),
    _repeating("upsample_nearest1d", 0.0),
    _repeating("upsample_nearest3d", 0.0),
    _repeating("_upsample_nearest_exact1d", 0.5),
    _repeating("_upsample_nearest_exact2d", 0.5),
    _repeating("_upsample_nearest_exact3d", 0.5),
)
