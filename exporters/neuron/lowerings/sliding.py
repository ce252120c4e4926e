"""Windows that slide over a tensor, as slices and reshapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from exporters.neuron.lowerings.base import Lowering
from exporters.neuron.lowerings.parts import windows

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]


def im2col(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> torch.Tensor:
    """``aten::im2col``: the patches of (…, channels, height, width) as columns.

    Returns:
        (…, channels * kernel height * kernel width, patches).
    """
    import torch

    padded = torch.nn.functional.pad(self, (padding[1], padding[1], padding[0], padding[0]))
    height = self.dim() - 2
    rows = windows(padded, height, kernel_size[0], stride[0], dilation[0])
    patches = windows(rows, height + 2, kernel_size[1], stride[1], dilation[1])
    # (…, channels, rows, kernel rows, columns, kernel columns)
    ordered = patches.movedim((height + 1, height + 3), (height, height + 1))
    return ordered.flatten(height + 2, height + 3).flatten(height - 1, height + 1)


def unfold(self: torch.Tensor, dimension: int, size: int, step: int) -> torch.Tensor:
    """``aten::unfold_copy``: the windows of `size` along an axis, their elements last."""
    if self.dim() == 0:
        return self.reshape(1).narrow(0, 0, size)
    axis = dimension % self.dim()
    return windows(self, axis, size, step).movedim(axis + 1, -1)


def _covers_im2col(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> bool:
    least = [step * (size - 1) + 1 for step, size in zip(dilation, kernel_size, strict=True)]
    sizes = [size + 2 * pad for size, pad in zip(self.shape[-2:], padding, strict=True)]
    return 0 not in self.shape[-3:] and all(a >= b for a, b in zip(sizes, least, strict=True))


def _covers_unfold(self: torch.Tensor, dimension: int, size: int, step: int) -> bool:
    return size > 0


LOWERINGS: Final = (
    Lowering(
        op="aten::im2col",
        function=im2col,
        covers=_covers_im2col,
        summary="Strided slices of the padded image, stacked.",
        source="pytorch.org/docs/stable/generated/torch.nn.Unfold.html",
    ),
    Lowering(
        op="aten::unfold_copy",
        function=unfold,
        covers=_covers_unfold,
        summary="Strided slices, stacked.",
        source="pytorch.org/docs/stable/generated/torch.Tensor.unfold.html",
    ),
)
