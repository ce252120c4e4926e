"""Dynamic axes with an upper bound, of which ExecuTorch plans its memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import torch
from torch.utils import _pytree as pytree

from exporters.hf.toolkit import auto_dynamic_shapes

__all__ = ["bounded_shapes"]

_TIMES: Final = 8
_AT_LEAST: Final = 16


def bounded_shapes(model: Any, inputs: Mapping[str, Any]) -> Any:
    """Transformers' dynamic shapes of `inputs`, each axis with some times its size as the most.

    Without bounds transformers assumes a thousand of an axis, and the memory that is planned for
    that may be more than the runtime can allocate.

    Args:
        model: The model that takes them.
        inputs: Keyword inputs as they are traced.
    """
    shapes = auto_dynamic_shapes(model, inputs)
    leaves = (x for x in pytree.tree_leaves(inputs) if isinstance(x, torch.Tensor) and x.dim())
    for axes, leaf in zip(_axes(shapes), leaves, strict=True):
        _bound(axes, leaf)
    return shapes


def _bound(axes: dict[int, Any], leaf: torch.Tensor) -> None:
    for axis, size in enumerate(leaf.shape):
        axes[axis] = torch.export.Dim.AUTO(max=max(_AT_LEAST, _TIMES * size))


def _axes(shapes: Any) -> Iterator[dict[int, Any]]:
    """The axes of each tensor that has any, in the order of the leaves."""
    if isinstance(shapes, dict) and shapes and all(isinstance(key, int) for key in shapes):
        yield shapes
    elif isinstance(shapes, (dict, list, tuple)):
        for shape in shapes.values() if isinstance(shapes, dict) else shapes:
            yield from _axes(shape)
