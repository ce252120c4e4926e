"""What several families of lowerings are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

__all__ = [
    "broadcast",
    "count_up",
    "join_complex",
    "opmath_dtype",
    "split_complex",
    "take",
    "unflatten",
    "windows",
]


def broadcast(first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both in the shape that they have together."""
    import torch

    together: Any = torch.broadcast_tensors
    one, other = together(first, second)
    return one, other


def take(tensor: torch.Tensor, axis: int, index: torch.Tensor) -> torch.Tensor:
    """`tensor` with the elements that `index`, of any shape, chooses along one axis."""
    chosen = tensor.index_select(axis, index.flatten().to(tensor.device))
    return unflatten(chosen, axis, index.shape)


def unflatten(tensor: torch.Tensor, axis: int, sizes: Sequence[int]) -> torch.Tensor:
    """`tensor` with one axis, counted from either end, made into several."""
    axis %= tensor.dim()
    return tensor.reshape([*tensor.shape[:axis], *sizes, *tensor.shape[axis + 1 :]])


def split_complex(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The real and the imaginary part of a complex tensor."""
    import torch

    parts = torch.view_as_real(tensor.resolve_conj())
    return parts[..., 0], parts[..., 1]


def join_complex(real: torch.Tensor, imaginary: torch.Tensor) -> torch.Tensor:
    """The complex tensor of two real ones of one shape.

    ``torch.complex`` has no lowering, and this does.
    """
    import torch

    return torch.view_as_complex(torch.stack([real, imaginary], dim=-1))


def opmath_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which PyTorch computes on the CPU: halves are computed in float32."""
    import torch

    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def count_up(mask: torch.Tensor) -> torch.Tensor:
    """How many elements of `mask` are true up to each one, itself included, in row-major order.

    It sums along the last axis and then over the rows: XLA's cumulative sum takes the square of
    the length, so that a flat one over all elements would not end.
    """
    if mask.dim() < 2:
        return mask.long().cumsum(0) if mask.dim() else mask.long()
    rows = mask.flatten(0, -2).long().cumsum(-1)
    totals = rows[:, -1] if rows.shape[-1] else rows.sum(-1)
    return (rows + (totals.cumsum(0) - totals)[:, None]).reshape(mask.shape)


def windows(
    tensor: torch.Tensor, axis: int, size: int, step: int, dilation: int = 1
) -> torch.Tensor:
    """`axis` becomes two: the windows that slide along it, and the elements of each.

    Slices and reshapes alone; as few slices as there are windows or elements of a window.
    """
    import torch

    reach = dilation * (size - 1) + 1
    count = (tensor.shape[axis] - reach) // step + 1
    if step == size and dilation == 1:
        return unflatten(tensor.narrow(axis, 0, count * size), axis, (count, size))
    if count < size:
        slices = [_every(tensor, axis, at * step, size, dilation) for at in range(count)]
        return torch.stack(slices, dim=axis)
    slices = [_every(tensor, axis, at * dilation, count, step) for at in range(size)]
    return torch.stack(slices, dim=axis + 1)


def _every(tensor: torch.Tensor, axis: int, start: int, count: int, step: int) -> torch.Tensor:
    along = slice(start, start + (count - 1) * step + 1, step)
    return tensor[(slice(None),) * axis + (along,)]
