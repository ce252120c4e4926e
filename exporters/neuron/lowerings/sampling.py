"""Sampling of images and volumes at the places of a grid: ``torch.nn.functional.grid_sample``.

Each place reads whole pixels, all channels at once, so that a gather moves rows of memory and no
single numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product
from operator import mul
from typing import TYPE_CHECKING, Final

from exporters.neuron.lowerings.base import Lowering
from exporters.neuron.lowerings.parts import take, unflatten

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]

# The numbers that ATen gives to the words of `grid_sample` (GridSamplerUtils.h).
_NEAREST, _BICUBIC = 1, 2
_ZEROS, _BORDER = 0, 1
_CUBIC: Final = -0.75

Tap = tuple["torch.Tensor", "torch.Tensor"]
"""A whole coordinate and its weight, for one axis; both of shape (batch, places)."""


def grid_sampler(
    input: torch.Tensor,
    grid: torch.Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> torch.Tensor:
    """``aten::grid_sampler_2d`` and ``aten::grid_sampler_3d``.

    Args:
        input: (batch, channels, *sizes).
        grid: (batch, *places, axes), the coordinates of the last axis of `input` first, from -1
            to 1.
        interpolation_mode: 0 linear, 1 nearest, 2 cubic.
        padding_mode: 0 zeros, 1 border, 2 reflection.
        align_corners: Whether -1 and 1 are the middles of the outer pixels, or their edges.

    Returns:
        (batch, channels, *places).
    """
    sizes = input.shape[2:]
    places = grid.flatten(1, -2).flip(-1).unbind(-1)
    bounds = [_bounded(size, padding_mode, align_corners) for size in sizes]
    taps = [
        _taps(_pixels(place, size, align_corners), bound, interpolation_mode)
        for place, size, bound in zip(places, sizes, bounds, strict=True)
    ]
    sampled = _weighted_sum(input, taps)
    return unflatten(sampled.transpose(1, 2), 2, grid.shape[1:-1])


def _pixels(place: torch.Tensor, size: int, align_corners: bool) -> torch.Tensor:
    """From -1 … 1 to pixels."""
    if align_corners:
        return (place + 1) / 2 * (size - 1)
    return ((place + 1) * size - 1) / 2


def _bounded(
    size: int, padding_mode: int, align_corners: bool
) -> Callable[[torch.Tensor], torch.Tensor]:
    """What moves a coordinate into the image, where the padding says so."""

    def border(pixels: torch.Tensor) -> torch.Tensor:
        return pixels.clamp(0, size - 1)

    def reflection(pixels: torch.Tensor) -> torch.Tensor:
        low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
        if span == 0:
            return pixels.new_zeros(pixels.shape)
        distance = (pixels - low).abs()
        extra, flips = distance.fmod(span), (distance / span).floor()
        return border((extra + low).where(flips.fmod(2) == 0, span - extra + low))

    if padding_mode == _ZEROS:
        return lambda pixels: pixels
    return border if padding_mode == _BORDER else reflection


def _taps(
    pixels: torch.Tensor, bound: Callable[[torch.Tensor], torch.Tensor], mode: int
) -> list[Tap]:
    if mode == _NEAREST:
        nearest = bound(pixels).round()
        return [(nearest, nearest.new_ones(nearest.shape))]
    if mode == _BICUBIC:
        # Here the pixels are moved, not the place between them.
        first = pixels.floor()
        weights = cubic_weights(pixels - first, _CUBIC)
        return [(bound(first + at - 1), weight) for at, weight in enumerate(weights)]
    pixels = bound(pixels)
    first = pixels.floor()
    return [(first, first + 1 - pixels), (first + 1, pixels - first)]


def cubic_weights(offset: torch.Tensor, a: float) -> list[torch.Tensor]:
    """Weights of the four pixels around a place, by the cubic convolution of parameter `a`.

    Args:
        offset: How far behind the second pixel the place is, from 0 to 1.
        a: Keys' parameter, the slope at distance 1.
    """

    def near(x: torch.Tensor) -> torch.Tensor:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: torch.Tensor) -> torch.Tensor:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(offset + 1), near(offset), near(1 - offset), far(2 - offset)]


def _weighted_sum(input: torch.Tensor, taps: Sequence[Sequence[Tap]]) -> torch.Tensor:
    """The pixels at every combination of the axes' taps, times their weights, added up."""
    batch, _, *sizes = input.shape
    pixels = input.flatten(2).transpose(1, 2).flatten(0, 1)
    total = None
    for combination in product(*taps):
        index, inside = _flat_index([place for place, _ in combination], batch, sizes)
        values = take(pixels, 0, index)
        weight = reduce(mul, (weight for _, weight in combination))
        # What is outside counts nothing, whatever the pixel that stands in for it holds.
        term = (values * weight.unsqueeze(-1)).where(inside.unsqueeze(-1), 0)
        total = term if total is None else total + term
    assert total is not None
    return total


def _flat_index(
    places: Sequence[torch.Tensor], batch: int, sizes: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """The row of each pixel among all pixels of the batch, and whether there is one."""
    import torch

    index = torch.arange(batch, device=places[0].device)[:, None]
    inside = None
    for place, size in zip(places, sizes, strict=True):
        within = (place >= 0) & (place <= size - 1)
        inside = within if inside is None else inside & within
        index = index * size + place.where(within, 0).long()
    assert inside is not None
    return index, inside


def _covers(input: torch.Tensor, grid: torch.Tensor, *_: object) -> bool:
    return input.is_floating_point() and 0 not in input.shape[2:] and input.dtype == grid.dtype


LOWERINGS: Final = tuple(
    Lowering(
        op=f"aten::grid_sampler_{axes}d",
        function=grid_sampler,
        covers=_covers,
        summary="The pixels around each place are gathered by rows and weighted.",
        source="pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html",
    )
    for axes in (2, 3)
)
