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
from testing.tiny.rules.vision import pair, vision_shape

__all__ = ["RULES", "best_resolution", "fixed", "grid"]

FRAMES: Final = 2
_STATES_SIZES: Final = "it states sizes that the image and the text must agree with"
# Height and width of an image before it is cut into crops; wide, so that rows are cropped away.
_ORIGINAL_SIZE: Final = (60, 128)
# Height and width in patches of an image in a longer row, and the length of the row.
_PATCHES: Final = (2, 6)
_ROW: Final = 16
_QUESTION_LENGTH: Final = 8


def fixed(values: list[int]) -> Domain:
    """Sizes that are the same for every sample."""
    return Domain(Kind.FIXED, (len(values),), value=torch.tensor([values]), reason=_STATES_SIZES)


def grid(forward: Forward, frames: int = 1) -> list[int]:
    """Patches of an image or a video along time, height and width: two merged ones a side."""
    vision = forward.nested("vision_config", "spatial_merge_size")
    names = ("spatial_merge_size", "merge_kernel_size", "merge_size")
    merged = next((n for n in (getattr(vision, name, None) for name in names) if n), 1)
    side = 2 * pair(merged)[0]
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
    names = ("temporal_patch_size", "patch_temporal")
    times = next((n for n in (getattr(vision, name, None) for name in names) if n), 1)
    width = vision_shape(forward)[-3] * times * vision.patch_size**2
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
    return floats((*images, *vision_shape(forward)))


def _images(forward: Forward) -> tuple[int, ...] | None:
    """Axes between the batch and the channels of an image; None for the general rule."""
    if _has_crops(forward):
        height, width = best_resolution(forward)
        _, rows, columns = vision_shape(forward)
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
    shape = vision_shape(forward, videos=True)
    return floats(shape if len(shape) > 3 else (FRAMES, *shape))


def _seconds(_: Forward) -> Domain:
    """How long a video's patch is along time."""
    return Domain(Kind.FLOAT, (), torch.float32, low=0.25, high=2)


def _image_sizes(forward: Forward) -> Domain | None:
    if _has_crops(forward):
        return fixed(list(_ORIGINAL_SIZE))
    if not _asks_for_sizes(forward.model):
        return None
    return fixed(list(vision_shape(forward)[-2:]))


def _asks_for_sizes(model: Any) -> bool:
    """Whether features of images depend on their sizes; many forwards take these for nothing."""
    method = getattr(model, "get_image_features", None) or getattr(
        getattr(model, "model", None), "get_image_features", None
    )
    sizes = inspect.signature(method).parameters.get("image_sizes") if method else None
    return sizes is not None and sizes.default is sizes.empty


def _pixel_attention_mask(forward: Forward) -> Domain | None:
    if "spatial_shapes" not in forward.parameters:
        return Domain(Kind.AREA, (1, *vision_shape(forward)[-2:]), dtype=torch.bool)
    if not _reads_text(forward):
        return VISION_RULES["pixel_attention_mask"](forward)
    real = torch.arange(_ROW) < math.prod(_PATCHES)
    return fixed(real.long().tolist())


def _spatial_shapes(forward: Forward) -> Domain | None:
    """One shape for all samples beside a text, which has a place for each patch."""
    return (
        fixed(list(_PATCHES)) if _reads_text(forward) else VISION_RULES["spatial_shapes"](forward)
    )


def _reads_text(forward: Forward) -> bool:
    return "input_ids" in forward.parameters and "get_image_features" in dir(forward.model)


def _aspect_ratio_ids(forward: Forward) -> Domain:
    ratios = len(forward.vision_config.supported_aspect_ratios)
    return Domain(Kind.INDEX, (1,), low=1, high=ratios + 1)


def _aspect_ratio_mask(forward: Forward) -> Domain:
    """Which tiles an image fills; the first always."""
    return Domain(Kind.MASK, (1, forward.vision_config.max_num_tiles), shortest=1)


def _cross_attention_states(forward: Forward) -> Domain | None:
    """Of an image's patches, for a text model without its own encoder of images."""
    if "pixel_values" in forward.parameters:
        return None
    return floats((math.prod(_PATCHES), forward.config.hidden_size))


def _cross_attention_mask(forward: Forward) -> Domain | None:
    """Which tiles a token attends to."""
    if "pixel_values" not in forward.parameters:
        return None
    from testing.tiny.rules.text import text_shape

    tiles = forward.vision_config.max_num_tiles
    return Domain(Kind.MASK, (*text_shape(forward), 1, tiles), shortest=1)


def _places_of_images(forward: Forward) -> Domain:
    from testing.tiny.rules.placeholders import unnamed_placeholder

    marks = ((unnamed_placeholder(forward), 1),)
    return Domain(Kind.MARKS, (), marked="input_ids", marks=marks)


def _question(forward: Forward) -> Domain:
    """Ids that a querying transformer reads beside its queries."""
    return Domain(
        Kind.TOKENS,
        (_QUESTION_LENGTH,),
        high=forward.config.qformer_config.vocab_size,
        excluded=frozenset(forward.special.values()),
        mask="qformer_attention_mask",
    )


def _high_resolution(forward: Forward) -> tuple[int, ...]:
    config = forward.config.high_res_vision_config
    return (config.num_channels, config.image_size, config.image_size)


def _pixel_values_images(forward: Forward) -> Domain | None:
    """Images beside videos; an older name where the forward takes the usual one too."""
    return None if "pixel_values" in forward.parameters else floats(vision_shape(forward))


def _image_patches(forward: Forward) -> Domain | None:
    """Patches of an image; an older name where the forward takes the usual one too."""
    if "pixel_values" in forward.parameters:
        return None
    return floats(
        (math.prod(_PATCHES), forward.config.num_channels * forward.config.patch_size**2)
    )


def _marks(forward: Forward) -> Domain:
    """What a token stands for: text, an image, a video, a sound."""
    names = (
        ("image_token_id", "image_token_index"),
        ("video_token_id", "video_token_index"),
        ("audio_token_id", "audio_token_index"),
    )
    tokens = (forward.setting(*either) for either in names)
    marks: dict[int, int] = {}
    for mark, token in enumerate(tokens, 1):
        if isinstance(token, int):
            # Where videos have the token of images, it is an image's.
            marks.setdefault(token, mark)
    return Domain(Kind.MARKS, (), marked="input_ids", marks=tuple(marks.items()))


RULES: Final[Mapping[str, Callable[[Forward], Domain | None]]] = {
    "aspect_ratio_ids": _aspect_ratio_ids,
    "aspect_ratio_mask": _aspect_ratio_mask,
    "cross_attention_mask": _cross_attention_mask,
    "cross_attention_states": _cross_attention_states,
    "image_embeds_position_mask": _places_of_images,
    "high_res_pixel_values": lambda forward: floats(_high_resolution(forward)),
    "image_grid_thw": lambda forward: fixed(grid(forward)),
    "image_patches": _image_patches,
    "image_sizes": _image_sizes,
    "mm_token_type_ids": _marks,
    "pixel_attention_mask": _pixel_attention_mask,
    "pixel_values": _pixel_values,
    "pixel_values_images": _pixel_values_images,
    "pixel_values_videos": _pixel_values_videos,
    "qformer_attention_mask": lambda forward: Domain(Kind.MASK, (_QUESTION_LENGTH,)),
    "qformer_input_ids": _question,
    "second_per_grid_ts": _seconds,
    "spatial_shapes": _spatial_shapes,
    "video_second_per_grid": _seconds,
    "video_grid_thw": lambda forward: fixed(grid(forward, FRAMES)),
}
"""Rules by the name of the input, which hold before those of images alone."""
