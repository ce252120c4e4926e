"""Pooling to a fixed size: windows whose places and lengths follow from the two sizes alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from exporters.neuron.lowerings.base import Lowering
from exporters.neuron.lowerings.parts import opmath_dtype, take, unflatten

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]

_SOURCE: Final = "pytorch.org/docs/stable/nn.html#pooling-layers"


def adaptive_avg_pool(self: torch.Tensor, output_size: Sequence[int]) -> torch.Tensor:
    """``aten::_adaptive_avg_pool2d`` and ``3d``: means over the last ``len(output_size)`` axes."""
    result = self.to(opmath_dtype(self.dtype))
    for back, target in enumerate(output_size):
        result = _means(result, self.dim() - len(output_size) + back, target)
    return result.to(self.dtype)


def adaptive_max_pool(
    self: torch.Tensor, output_size: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::adaptive_max_pool2d`` and ``3d``: the largest values, and where they were.

    Returns:
        The values, and for each its index in the flattened pooled axes.
    """
    import torch

    axes = len(output_size)
    sizes = self.shape[self.dim() - axes :]
    chosen = _window_pixels(sizes, output_size).to(self.device)
    flat = self.flatten(self.dim() - axes)
    values = take(flat, -1, chosen)
    best, tap = values.max(dim=-1)
    # Not by `gather`, which XLA refuses for an empty batch.
    firsts = (torch.arange(chosen[..., 0].numel()) * chosen.shape[-1]).reshape(chosen.shape[:-1])
    return best, take(chosen.flatten(), 0, tap + firsts.to(self.device))


def _means(tensor: torch.Tensor, axis: int, target: int) -> torch.Tensor:
    size = tensor.shape[axis]
    if size % target == 0:
        return unflatten(tensor, axis, (target, size // target)).mean(axis + 1)
    pixels, lengths = _windows(size, target)
    chosen = take(tensor, axis, pixels)
    trailing = [1] * (tensor.dim() - axis - 1)
    inside = _first(lengths, pixels.shape[1]).reshape(*pixels.shape, *trailing)
    values = chosen.where(inside.to(tensor.device), 0)
    counts = lengths.to(tensor.dtype).reshape(-1, *trailing)
    return values.sum(axis + 1) / counts.to(tensor.device)


def _windows(size: int, target: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The pixels of each window, the last one again where it is short, and how many it has."""
    import torch

    outputs = torch.arange(target)
    starts = outputs * size // target
    lengths = -(-(outputs + 1) * size // target) - starts
    taps = torch.arange(int(lengths.max()))
    return starts[:, None] + taps.minimum(lengths[:, None] - 1), lengths


def _first(lengths: torch.Tensor, count: int) -> torch.Tensor:
    import torch

    return torch.arange(count) < lengths[:, None]


def _window_pixels(sizes: Sequence[int], targets: Sequence[int]) -> torch.Tensor:
    """Flat indices of the pixels of every window: (*targets, taps)."""
    import torch

    axes = len(sizes)
    index = torch.zeros([1] * 2 * axes, dtype=torch.long)
    for at, (size, target) in enumerate(zip(sizes, targets, strict=True)):
        pixels, _ = _windows(size, target)
        shape = [1] * 2 * axes
        shape[at], shape[axes + at] = pixels.shape
        index = index * size + pixels.reshape(shape)
    return index.flatten(axes)


def _covers(self: torch.Tensor, output_size: Sequence[int]) -> bool:
    sizes = self.shape[self.dim() - len(output_size) :]
    return self.is_floating_point() and 0 not in sizes and min(output_size) > 0


LOWERINGS: Final = (
    *(
        Lowering(
            op=f"aten::_adaptive_avg_pool{axes}d",
            function=adaptive_avg_pool,
            covers=_covers,
            summary="The pixels of each window are selected and averaged, axis by axis.",
            source=_SOURCE,
        )
        for axes in (2, 3)
    ),
    *(
        Lowering(
            op=f"aten::adaptive_max_pool{axes}d",
            function=adaptive_max_pool,
            covers=_covers,
            summary="The pixels of each window are selected, and the largest is taken.",
            source=_SOURCE,
        )
        for axes in (2, 3)
    ),
)
