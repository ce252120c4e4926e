"""Counts per bin and places among boundaries, by comparing everything with everything.

The bins and boundaries of models are few; comparisons and a sum are what an accelerator does best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from exporters.neuron.lowerings.base import Lowering, evaluate

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]


def histc(self: torch.Tensor, bins: int = 100, min: float = 0, max: float = 0) -> torch.Tensor:
    """``aten::histc``: how many elements are in each of `bins` equal parts of min … max.

    With `min` equal to `max` the range is that of the data, which need not be known for it.
    """
    values = self.flatten()
    low, high = _bounds(values, float(min), float(max))
    places = ((values - low) * bins / (high - low)).floor().clamp(max=bins - 1)
    return _counts(places.where((values >= low) & (values <= high), -1), bins).to(self.dtype)


def _bounds(values: torch.Tensor, low: float, high: float) -> tuple[torch.Tensor, torch.Tensor]:
    least, most = values.new_tensor(low), values.new_tensor(high)
    if low == high and values.numel():
        least, most = values.min(), values.max()
    same = least == most
    return (least - 1).where(same, least), (most + 1).where(same, most)


def bincount(
    self: torch.Tensor, weights: torch.Tensor | None = None, minlength: int = 0
) -> torch.Tensor:
    """``aten::bincount``: how often each number from 0 on occurs; their number is evaluated."""
    import torch

    if not self.numel():
        return torch.zeros(minlength, dtype=torch.long, device=self.device)
    bins = max(int(evaluate(self.max())) + 1, minlength)
    if weights is None:
        return _counts(self, bins)
    summed = weights if weights.dtype == torch.float32 else weights.double()
    return summed[:, None].where(_is_in(self, bins), 0).sum(0)


def _counts(places: torch.Tensor, bins: int) -> torch.Tensor:
    return _is_in(places, bins).sum(0)


def _is_in(places: torch.Tensor, bins: int) -> torch.Tensor:
    import torch

    return places[:, None] == torch.arange(bins, device=places.device)


def searchsorted(
    sorted_sequence: torch.Tensor,
    self: torch.Tensor | float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: torch.Tensor | None = None,
) -> torch.Tensor:
    """``aten::searchsorted``: where in the last axis each value would keep the order."""
    import torch

    edges = sorted_sequence
    if sorter is not None and sorter.numel():
        edges = edges.gather(-1, sorter)
    dtype = torch.result_type(edges, self)
    values = torch.as_tensor(self, dtype=dtype, device=edges.device)
    edges = edges if edges.dim() == 1 else edges.unsqueeze(-2)
    # Not `<`: NaN is larger than all.
    values = values.unsqueeze(-1)
    above = edges > values if right or side == "right" else edges >= values
    return (~above).sum(-1, dtype=torch.int32 if out_int32 else torch.long)


def bucketize(
    self: torch.Tensor | float,
    boundaries: torch.Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
) -> torch.Tensor:
    """``aten::bucketize``: the bucket among one-dimensional `boundaries` of each value."""
    return searchsorted(boundaries, self, out_int32=out_int32, right=right)


def isin(
    elements: torch.Tensor,
    test_elements: torch.Tensor,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> torch.Tensor:
    """``aten::isin``: whether each element is among the others."""
    found = (elements.unsqueeze(-1) == test_elements.flatten()).any(-1)
    return ~found if invert else found


def _covers_histc(self: torch.Tensor, *_: object, **__: object) -> bool:
    return self.is_floating_point()


LOWERINGS: Final = (
    Lowering(
        op="aten::histc",
        function=histc,
        covers=_covers_histc,
        summary="Every element's bin is compared with every bin.",
        source="pytorch.org/docs/stable/generated/torch.histc.html",
    ),
    Lowering(
        op="aten::bincount",
        function=bincount,
        summary="Every element is compared with every bin; the largest element is evaluated.",
        source="pytorch.org/docs/stable/generated/torch.bincount.html",
    ),
    *(
        Lowering(
            op=f"aten::searchsorted.{overload}",
            function=searchsorted,
            summary="Every value is compared with every member of the sorted sequence.",
            source="pytorch.org/docs/stable/generated/torch.searchsorted.html",
        )
        for overload in ("Tensor", "Scalar")
    ),
    *(
        Lowering(
            op=f"aten::bucketize.{overload}",
            function=bucketize,
            summary="Every value is compared with every boundary.",
            source="pytorch.org/docs/stable/generated/torch.bucketize.html",
        )
        for overload in ("Tensor", "Scalar")
    ),
    Lowering(
        op="aten::isin.Tensor_Tensor",
        function=isin,
        summary="Every element is compared with every other.",
        source="pytorch.org/docs/stable/generated/torch.isin.html",
    ),
)
