"""Pooling by windows larger than the padded image, which ``ceil_mode`` permits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.lowerings.base import Lowering

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]

_SOURCE: Final = "pytorch.org/docs/stable/generated/torch.nn.AvgPool2d.html"
_OPS: Final = {"avg_pool2d": 3, "max_pool2d_with_indices": 4}
"""The place of ``ceil_mode`` among the arguments after the kernel's size, by op."""


def _pool(
    op: str,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    *others: Any,
    **named: Any,
) -> Any:
    """The op with windows of the padded image's size where they were larger.

    The one window that such an axis has begins where the image does and is clipped where it
    ends; its mean is over what is left of it.
    """
    import torch

    pool: Callable[..., Any] = getattr(torch.ops.aten, op).default
    kernel, steps, pads = _pair(kernel_size), _pair(stride or kernel_size), _pair(padding)
    limits = _limits(self, pads)
    clipped = [min(pair) for pair in zip(kernel, limits, strict=True)]
    return pool(self, clipped, steps, pads, *others, **named)


def _covers(
    ceil_mode: int,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    *others: Any,
    **named: Any,
) -> bool:
    given = (stride, padding, *others)
    is_ceil = given[ceil_mode - 1] if len(given) >= ceil_mode else named.get("ceil_mode", False)
    # What stands between the padding and the mode is the dilation.
    dilation = [step for steps in others[: ceil_mode - 3] for step in steps]
    limits = _limits(self, _pair(padding))
    over = [size - limit for size, limit in zip(_pair(kernel_size), limits, strict=True)]
    # Where a window hangs over by a step or more, PyTorch itself has no output and refuses.
    steps = _pair(stride or kernel_size)
    has_output = all(by < step for by, step in zip(over, steps, strict=True))
    return bool(is_ceil) and has_output and max(over) > 0 and set(dilation) <= {1}


def _limits(self: torch.Tensor, padding: tuple[int, ...]) -> list[int]:
    return [size + 2 * pad for size, pad in zip(self.shape[-2:], padding, strict=True)]


def _pair(value: Sequence[int]) -> tuple[int, ...]:
    return (value[0], value[0]) if len(value) == 1 else tuple(value)


LOWERINGS: Final = tuple(
    Lowering(
        op=f"aten::{op}",
        function=partial(_pool, op),
        covers=partial(_covers, ceil_mode),
        summary="Windows are clipped to the padded image; torch_xla's have no output there.",
        source=_SOURCE,
        replaces=True,
    )
    for op, ceil_mode in _OPS.items()
)
