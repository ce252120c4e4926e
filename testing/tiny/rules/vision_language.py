"""Inputs of language models that read images or videos: how their processors lay these out."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import torch

from testing.inputs.domains import Domain, Kind
from testing.tiny.features import floats
from testing.tiny.forward import Forward
from testing.tiny.rules.vision import RULES as VISION_RULES
from testing.tiny.rules.vision import image_size

__all__ = ["RULES", "best_resolution", "channels", "fixed", "grid"]

FRAMES: Final = 2
_STATES_SIZES: Final = "it states sizes that the image and the text must agree with"
# Height and width of an image before it is cut into crops; wide, so that rows are cropped away.
_ORIGINAL_SIZE: Final = (60, 128)


def channels(forward: Forward) -> int:
    """Colours of an image."""
    names = ("num_channels", "in_channels", "in_chans")
    found = (getattr(forward.vision_config, name, None) for name in names)
    return next((number for number in found if number), 3)


def fixed(values: list[int]) -> Domain:
    """Sizes that are the same for every sample."""
    return Domain(Kind.FIXED, (len(values),), value=torch.tensor([values]), reason=_STATES_SIZES)


def grid(forward: Forward, frames: int = 1) -> list[int]:
    """Patches of an image or a video along time, height and width: two merged ones a side."""
    merged = forward.nested("vision_config", "spatial_merge_size")
    side = 2 * (getattr(merged, "spatial_merge_size", None) or 1)
    return [frames, side, side]


def best_resolution(forward: Forward) -> tuple[int, int]:
    """Height and width to which an image is scaled before it is cut into crops."""
    from transformers.image_processing_utils import select_best_resolution

    pinpoints = [tuple(size) for size in forward.setting("image_grid_pinpoints")]
    height, width = select_best_resolution(_ORIGINAL_SIZE, pinpoints)
    return int(height), int(width)


def _patches(forward: Forward, frames: int = 1) -> Domain:
    """Flattened patches, one to a row, without a batch axis of their own."""
    vision = forward.nested("vision_config", "patch_size")
    times = getattr(vision, "temporal_patch_size", None) or 1
    width = channels(forward) * times * vision.patch_size**2
    return Domain(
        Kind.FLOAT,
        (width,),
        dtype=torch.float32,
        rows=math.prod(grid(forward, frames)),
        low=-6,
        high=6,
    )


def _pixel_values(forward: Forward) -> Domain | None:
    if "image_grid_thw" in forward.parameters:
        return _patches(forward)
    images = _images(forward)
    if images is None:
        return VISION_RULES["pixel_values"](forward)
    return floats((*images, channels(forward), *image_size(forward.vision_config)))


def _images(forward: Forward) -> tuple[int, ...] | None:
    """Axes between the batch and the channels of an image; None for the general rule."""
    if _has_crops(forward):
        height, width = best_resolution(forward)
        rows, columns = image_size(forward.vision_config)
        return (1 + (height // rows) * (width // columns),)
    if "aspect_ratio_ids" in forward.parameters:
        return (1, forward.vision_config.max_num_tiles)
    if "pixel_attention_mask" in forward.parameters and "spatial_shapes" not in forward.parameters:
        return (1,)
    return None


def _has_crops(forward: Forward) -> bool:
    pinpoints = forward.setting("image_grid_pinpoints")
    return bool(pinpoints) and "image_sizes" in forward.parameters


def _pixel_values_videos(forward: Forward) -> Domain:
    if "video_grid_thw" in forward.parameters:
        return _patches(forward, FRAMES)
    frames = forward.setting("num_frames") or FRAMES
    return floats((frames, channels(forward), *image_size(forward.vision_config)))


def _image_sizes(forward: Forward) -> Domain | None:
    if _has_crops(forward):
        return fixed(list(_ORIGINAL_SIZE))
    if not _asks_for_sizes(forward.model):
        return None
    return fixed(list(image_size(forward.vision_config)))


def _asks_for_sizes(model: Any) -> bool:
    """Whether features of images depend on their sizes; many forwards take these for nothing."""
    method = getattr(model, "get_image_features", None) or getattr(
        getattr(model, "model", None), "get_image_features", None
    )
    return method is not None and "image_sizes" in inspect.signature(method).parameters


def _pixel_attention_mask(forward: Forward) -> Domain | None:
    if "spatial_shapes" in forward.parameters:
        return VISION_RULES["pixel_attention_mask"](forward)
    return Domain(Kind.AREA, (1, *image_size(forward.vision_config)), dtype=torch.bool)


def _aspect_ratio_ids(forward: Forward) -> Domain:
    ratios = len(forward.vision_config.supported_aspect_ratios)
    return Domain(Kind.INDEX, (1,), low=1, high=ratios + 1)


def _aspect_ratio_mask(forward: Forward) -> Domain:
    """Which tiles an image fills; the first always."""
    return Domain(Kind.MASK, (1, forward.vision_config.max_num_tiles), shortest=1)


RULES: Final[Mapping[str, Callable[[Forward], Domain | None]]] = {
    "aspect_ratio_ids": _aspect_ratio_ids,
    "aspect_ratio_mask": _aspect_ratio_mask,
    "image_grid_thw": lambda forward: fixed(grid(forward)),
    "image_sizes": _image_sizes,
    "pixel_attention_mask": _pixel_attention_mask,
    "pixel_values": _pixel_values,
    "pixel_values_videos": _pixel_values_videos,
    "video_grid_thw": lambda forward: fixed(grid(forward, FRAMES)),
}
"""Rules by the name of the input, which hold before those of images alone."""
