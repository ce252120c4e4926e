"""How far a floating leaf may be from eager, element by element."""

from __future__ import annotations

from typing import Final

import torch

from testing.registry.entries import Tolerance

__all__ = ["allowance", "leaf_scale"]

_ROUNDINGS: Final = 16
_FILL: Final = 1e30
_BULK: Final = 32.0


def allowance(eager: torch.Tensor, dtype: torch.dtype, tolerance: Tolerance) -> torch.Tensor:
    """How far each element may be from eager, in float64.

    With `scale` the largest finite ``|eager|`` of the leaf, an element may be off by
    ``max(floor, atol * min(1, scale)) + rtol * |eager|``. An absolute tolerance so never exceeds
    a leaf whose values are all small, and each leaf has its own. The floor is what rounding
    alone explains, since values that cancel may be small and their errors are not:
    ``16 * eps * max(1, leaf_scale)`` with float32's eps (float64's for float64), and for dtypes
    below float32 also ``2 * eps(dtype) * max(leaf_scale, |eager|)``, which is relative, so that
    small values of a bfloat16 softmax do not vanish under an absolute tolerance.

    Args:
        eager: Values of the leaf in float64.
        dtype: Real dtype of the leaf.
        tolerance: The case's tolerance.
    """
    sizes = torch.where(torch.isfinite(eager), eager.abs(), 0.0)
    largest = float(sizes.max()) if sizes.numel() else 0.0
    bulk = leaf_scale(eager)
    wide = dtype if torch.finfo(dtype).bits == 64 else torch.float32
    floor = torch.full_like(eager, _ROUNDINGS * torch.finfo(wide).eps * max(1.0, bulk))
    if torch.finfo(dtype).bits < 32:
        floor += 2 * torch.finfo(dtype).eps * sizes.clamp(min=bulk)
    return floor.clamp(min=tolerance.atol * min(1.0, largest)) + tolerance.rtol * sizes


def leaf_scale(eager: torch.Tensor) -> float:
    """The scale of a leaf: its largest finite absolute value, fill values left out.

    Scores that a model masks out hold -1e9 or the dtype's lowest value, which must not stretch
    the allowance of the others. So nothing beyond 1e30 counts, and the scale is at most 32
    times the tenth percentile of the absolute values that are not zero: Gaussian values have a
    ratio of about 30, and uniform ones of 10.
    """
    sizes = eager.abs()
    sizes = sizes[torch.isfinite(sizes) & (sizes > 0) & (sizes < _FILL)]
    if not sizes.numel():
        return 0.0
    tenth = sizes.kthvalue(max(1, sizes.numel() // 10)).values
    return min(float(sizes.max()), _BULK * float(tenth))
