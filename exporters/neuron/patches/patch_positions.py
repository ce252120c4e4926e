"""Positions of the patches of images of any size, without a loop over the images' own sizes."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import Target, TracePatch, names_in_code

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["PATCH_POSITIONS"]

_USES: Final = (
    "patch_embedding",
    "position_embedding",
    "num_patches_per_side",
    "bucketize",
    "dtype",
)
_ARGUMENTS: Final = ("self", "pixel_values", "patch_attention_mask")


def find(model: nn.Module) -> list[nn.Module]:
    """The modules that give each image of a batch the positions of its own height and width."""
    return [module for module in model.modules() if _fits(module)]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Compute the positions of all images at once."""
    for module in modules:
        module.forward = MethodType(_forward, module)


def _fits(module: nn.Module) -> bool:
    forward = type(module).forward
    if not set(_USES) <= set(names_in_code(forward)):
        return False
    return tuple(inspect.signature(forward).parameters) == _ARGUMENTS


def _forward(
    module: Any, pixel_values: torch.Tensor, patch_attention_mask: torch.Tensor
) -> torch.Tensor:
    """As the module's own.

    Args:
        module: Idefics2's vision embeddings, or what is written like them.
        pixel_values: Of shape (batch, channels, height, width).
        patch_attention_mask: bool of shape (batch, rows, columns): the patches of each image,
            from its first row and column on.
    """
    embeddings = module.patch_embedding(pixel_values).flatten(2).transpose(1, 2)
    side = module.num_patches_per_side
    rows = _buckets(patch_attention_mask[:, :, 0], side, pixel_values.dtype)
    columns = _buckets(patch_attention_mask[:, 0], side, pixel_values.dtype)
    positions = (rows[:, :, None] * side + columns[:, None]) * patch_attention_mask
    embedded: torch.Tensor = embeddings + module.position_embedding(positions.flatten(1))
    return embedded


def _buckets(mask: torch.Tensor, side: int, dtype: torch.dtype) -> torch.Tensor:
    """Where along a side of the embeddings' own image each patch of another is.

    Args:
        mask: bool of shape (batch, patches): which an image has.
        side: Patches of the embeddings' own image.
        dtype: That of the coordinates.
    """
    import torch

    boundaries = torch.arange(1 / side, 1.0, 1 / side, device=mask.device)
    indices = torch.arange(mask.shape[1], device=mask.device, dtype=dtype)
    fractions = indices / mask.sum(1, keepdim=True) * (1 - 1e-6)
    # As `torch.bucketize(fractions, boundaries, right=True)`.
    return (fractions[..., None] >= boundaries).sum(-1)


PATCH_POSITIONS: Final = TracePatch(
    name="patch_positions",
    summary="The positions of patches are computed for all images at once.",
    targets=(
        Target(
            "transformers.models.idefics2.modeling_idefics2:Idefics2VisionEmbeddings.forward",
            uses=_USES,
        ),
    ),
    find=find,
    apply=apply,
    mentions=("bucket_coords_h",),
    requires="transformers<5",
)
