"""Functions of several steps in half precision, which are to be rounded once, at the end.

PyTorch's kernels compute them in float32. torch_xla rounds after each step, and so errs in the
last digit of every fifth result: 0.4 % of a weight that a whole model is scaled by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from exporters.neuron.lowerings.base import Lowering

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]


def softplus(self: torch.Tensor, beta: float = 1, threshold: float = 20) -> torch.Tensor:
    """``aten::softplus``: ``log(1 + exp(beta * x)) / beta``, and x where that is the same."""
    import torch

    return torch.nn.functional.softplus(self.float(), beta, threshold).to(self.dtype)


def _covers_half(self: torch.Tensor, *_: object, **__: object) -> bool:
    return self.is_floating_point() and self.element_size() == 2


LOWERINGS: Final = (
    Lowering(
        op="aten::softplus",
        function=softplus,
        covers=_covers_half,
        summary="In half precision it is computed in float32 and rounded once.",
        source="pytorch.org/docs/stable/generated/torch.nn.functional.softplus.html",
        replaces=True,
    ),
)
