"""UDOP's patches of the page that no word covers, gathered for all pages at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import Target, TracePatch, names_in_code
from exporters.neuron.patches.rebinding import rebind

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["COVERED_PATCHES"]

_MODULE: Final = "transformers.models.udop.modeling_udop"
_NAME: Final = "combine_image_text_embeddings"


def find(model: nn.Module) -> list[nn.Module]:
    """The modules that join a page's words and its patches."""
    return [m for m in model.modules() if _NAME in names_in_code(type(m).forward)]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Join them without selections whose size depends on the words."""
    for module in modules:
        rebind(module, "forward", {_NAME: _wrap})


def _wrap(original: Any) -> Callable[..., Any]:
    return partial(combined, original.__globals__["get_visual_bbox"])


def combined(
    make_boxes: Callable[..., torch.Tensor],
    image_embeddings: torch.Tensor,
    inputs_embeds: torch.Tensor,
    bbox: torch.Tensor,
    visual_bbox: torch.Tensor | None,
    attention_mask: torch.Tensor | None = None,
    num_patches: int = 14,
    max_len: int = 0,
    image_size: int = 224,
    patch_size: int = 16,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """``combine_image_text_embeddings``, the patches behind the words.

    Args:
        make_boxes: Gives the boxes of all patches, of shape (patches, 4).
        image_embeddings: Of shape (batch, patches, width).
        inputs_embeds: Of shape (batch, words, width); added to, as the model has it.
        bbox: Of shape (batch, words, 4), from 0 to 1.
        visual_bbox: Boxes of patches, of shape (batch, patches, 4).
        attention_mask: Of shape (batch, words).
        num_patches: Patches along one side.
        max_len: How long the result is; 0 for all words and all patches.
        image_size: Pixels along one side.
        patch_size: Of a patch along one side.

    Returns:
        Embeddings, boxes and mask of words and patches. Patches that a word covers are zeros, and
        stand last.
    """
    import torch

    words = inputs_embeds.shape[1]
    places = _places(bbox, num_patches)
    inputs_embeds += _under(image_embeddings, places, bbox)
    if visual_bbox is None:
        boxes = make_boxes(image_size=image_size, patch_size=patch_size)
        visual_bbox = boxes.expand(len(bbox), -1, -1).to(bbox.device)
    order, free = _order(places, image_embeddings.shape[1])
    length = max_len - words if max_len else image_embeddings.shape[1]
    order, free = order[:, :length], free[:, :length]
    embeddings = torch.cat([inputs_embeds, _taken(image_embeddings, order, free)], 1)
    boxes = torch.cat([bbox.double(), _taken(visual_bbox, order, free).double()], 1)
    if attention_mask is not None:
        attention_mask = torch.cat([attention_mask, free.to(attention_mask)], 1)
    return embeddings, boxes, attention_mask


def _places(bbox: torch.Tensor, side: int) -> torch.Tensor:
    """The patch at the middle of each word, of shape (batch, words)."""
    columns, rows = (
        ((bbox[..., axis] + bbox[..., axis + 2]) / 2.0 * side).floor().long().clip(0, side - 1)
        for axis in (0, 1)
    )
    return columns + rows * side


def _under(patches: torch.Tensor, places: torch.Tensor, bbox: torch.Tensor) -> torch.Tensor:
    """The patch under each word; zeros where the box is that of a special token."""
    mean = bbox.double().mean(-1, keepdim=True)
    found = patches.gather(1, places[..., None].expand(-1, -1, patches.shape[-1]))
    return found.masked_fill((mean == 0.0) | (mean == 1.0), 0.0)


def _order(places: torch.Tensor, patches: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The patches with those that no word covers first, and which of these are."""
    import torch

    numbers = torch.arange(patches, device=places.device)
    free = (places[:, None] != numbers[:, None]).all(-1)
    # Each patch's number as its rank: distinct, so any sort keeps the order.
    order = (numbers + patches * ~free).argsort(-1)
    return order, free.gather(1, order)


def _taken(values: torch.Tensor, order: torch.Tensor, free: torch.Tensor) -> torch.Tensor:
    taken = values.gather(1, order[..., None].expand(-1, -1, values.shape[-1]))
    return taken.masked_fill(~free[..., None], 0)


COVERED_PATCHES: Final = TracePatch(
    name="covered_patches",
    summary="The patches that no word covers are sorted to the front, and the others are zeros.",
    targets=(
        Target(f"{_MODULE}:UdopStack.forward", uses=(_NAME,)),
        Target(f"{_MODULE}:{_NAME}", uses=("get_visual_bbox",)),
    ),
    find=find,
    apply=apply,
    model_types=("udop",),
    requires="transformers<5",
)
