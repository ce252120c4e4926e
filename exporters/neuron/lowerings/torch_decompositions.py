"""PyTorch's own decompositions, of ops where they are right and made of what XLA has."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from exporters.neuron.lowerings.base import Lowering

__all__ = ["LOWERINGS"]


def _decomposed(op: str, *args: Any, **kwargs: Any) -> Any:
    from torch._decomp import decomposition_table

    from exporters.neuron.ops import overload_of

    return decomposition_table[overload_of(op)](*args, **kwargs)


_OPS: Final = (
    "addmm",
    "addmv",
    "channel_shuffle",
    "col2im",
    "heaviside",
    "huber_loss",
    "isposinf",
    "linalg_cross",
    "logaddexp",
    "sinc",
)

LOWERINGS: Final = tuple(
    Lowering(
        op=f"aten::{name}",
        function=partial(_decomposed, f"aten::{name}"),
        summary="PyTorch's decomposition.",
        source="torch._decomp, torch._refs",
    )
    for name in _OPS
)
