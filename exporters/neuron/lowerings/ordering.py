"""Orders whose places may be used as an index.

The kernels of torch_xla for ``index_select``, ``embedding``, ``index_add``, ``index_copy`` and
``index_fill`` take the shape of the node that made the index. Where that node has several results,
as a sort has, they take the shape of all of them and end the process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.lowerings.base import Lowering

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]

_SUMMARY: Final = "The places are a node of their own, which torch_xla takes as an index."
_INDEX_SIZE: Final = 4
_SOURCE: Final = "the op itself; what it gives is the same"


def sort(self: torch.Tensor, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::sort``, stable or not: values and places."""
    import torch

    values, places = torch.sort(self, *args, **kwargs)
    return _apart(values), _apart(places)


def sort_stable(
    self: torch.Tensor, *, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::sort.stable``: values and places."""
    return sort(self, stable=bool(stable), dim=dim, descending=descending)


def topk(self: torch.Tensor, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::topk``: values and places."""
    import torch

    values, places = torch.topk(self, *args, **kwargs)
    return _apart(values), _apart(places)


def _apart(result: torch.Tensor) -> torch.Tensor:
    """`result`, of another node where it may be an index."""
    is_index = not (result.is_floating_point() or result.dtype.itemsize < _INDEX_SIZE)
    return result + 0 if is_index else result


def _lowering(op: str, function: Callable[..., Any]) -> Lowering:
    return Lowering(op, function, _SUMMARY, _SOURCE, replaces=True)


LOWERINGS: Final = (
    _lowering("aten::sort", sort),
    _lowering("aten::sort.stable", sort_stable),
    _lowering("aten::topk", topk),
)
