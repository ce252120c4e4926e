"""Inputs of boxes: where words stand on a page, and the regions that a detector found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import torch

from testing.inputs.domains import Domain, Kind
from testing.tiny.features import floats
from testing.tiny.forward import Forward
from testing.tiny.rules.text import text_shape

__all__ = ["RULES", "fractions"]

# Processors of documents scale a page to this side.
_PAGE: Final = 1000
_REGIONS: Final = 6


def fractions(shape: tuple[int, ...], mask: str | None = None) -> Domain:
    """Boxes in fractions of the image, of a shape without its batch axis and corners."""
    return Domain(Kind.BOXES, (*shape, 4), dtype=torch.float32, low=0, high=1, mask=mask)


def _bbox(forward: Forward) -> Domain:
    """A box for each token: in thousandths where coordinates are looked up, else in fractions."""
    shape = text_shape(forward)
    sides = forward.setting("max_2d_position_embeddings")
    if sides is None:
        return fractions(shape, mask="attention_mask")
    high = min(_PAGE + 1, sides)
    return Domain(Kind.BOXES, (*shape, 4), high=high, mask="attention_mask")


def _visual_feats(forward: Forward) -> Domain:
    return floats((_REGIONS, forward.config.visual_feat_dim), mask="visual_attention_mask")


def _visual_embeds(forward: Forward) -> Domain:
    return floats((_REGIONS, forward.config.visual_embedding_dim), mask="visual_attention_mask")


RULES: Final[Mapping[str, Callable[[Forward], Domain | None]]] = {
    "bbox": _bbox,
    "visual_attention_mask": lambda forward: Domain(Kind.MASK, (_REGIONS,)),
    "visual_embeds": _visual_embeds,
    "visual_feats": _visual_feats,
    "visual_pos": lambda forward: fractions((_REGIONS,), mask="visual_attention_mask"),
}
