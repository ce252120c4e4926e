"""Inputs of images and videos."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import torch

from testing.inputs.domains import Domain, Kind
from testing.tiny.features import floats
from testing.tiny.forward import Forward

__all__ = ["RULES", "image_size", "pair", "patch_count", "vision_shape"]

_SIDES: Final = ("image_size", "img_size", "crop_size")
_CHANNELS: Final = ("num_channels", "in_channels", "in_chans")
_FRAMES: Final = ("num_frames", "frames_per_clip")
_SIDE: Final = 64
# Height and width in patches of images in a row of 16: three, so that samples differ.
_SHAPES: Final = ((4, 4), (2, 6), (3, 5))
_ROW: Final = 16
_STATES_SIZES: Final = "it states sizes that the image must agree with"


def pair(size: Any) -> tuple[int, int]:
    """Height and width of a size that is one number, two, or a mapping."""
    if isinstance(size, Mapping):
        return int(size["height"]), int(size["width"])
    height, width = size[-2:] if isinstance(size, (list, tuple)) else (size, size)
    return int(height), int(width)


def image_size(config: Any) -> tuple[int, int]:
    """Height and width in pixels that a configuration states."""
    found = (getattr(config, name, None) for name in _SIDES)
    return pair(next((size for size in found if size), _SIDE))


def vision_shape(forward: Forward, videos: bool = False) -> tuple[int, ...]:
    """Shape of an image without its batch axis; of a video, with the frames first."""
    channels = _stated(forward, _CHANNELS)
    size = pair(_stated(forward, _SIDES) or _SIDE)
    image = (channels if isinstance(channels, int) else 3, *size)
    frames = _stated(forward, _FRAMES)
    return (int(frames), *image) if videos and frames else image


def patch_count(forward: Forward) -> int:
    """Patches of one sample; of a video, in tubes of several frames."""
    height, width = pair(_stated(forward, _SIDES))
    down, across = pair(_stated(forward, ("patch_size",)))
    frames = _stated(forward, _FRAMES) or 1
    tube = _stated(forward, ("tubelet_size",)) or 1
    return (int(frames) // int(tube)) * (height // down) * (width // across)


def _stated(forward: Forward, names: tuple[str, ...]) -> Any:
    """What the configuration of the images states, else the first that states it at all."""
    found = (getattr(forward.vision_config, name, None) for name in names)
    return next((value for value in found if value), None) or forward.setting(*names)


def _pixel_values(forward: Forward) -> Domain:
    if "spatial_shapes" in forward.parameters:
        return _row_of_patches(forward)
    patches = _hidden_states(forward)
    if patches is not None:
        return patches
    # Beside videos they are images.
    shape = vision_shape(forward, videos="pixel_values_videos" not in forward.parameters)
    return floats(shape, mask="pixel_mask" if "pixel_mask" in forward.parameters else None)


def _row_of_patches(forward: Forward) -> Domain:
    """Flattened patches of an image in its own shape, padded to one number of them."""
    width = vision_shape(forward)[0] * _stated(forward, ("patch_size",)) ** 2
    return floats((_ROW, width), mask="pixel_attention_mask")


def _pixel_attention_mask(forward: Forward) -> Domain | None:
    if "spatial_shapes" not in forward.parameters:
        return None
    real = torch.tensor([[height * width] for height, width in _SHAPES])
    mask = (torch.arange(_ROW) < real).long()
    return Domain(Kind.FIXED, (_ROW,), value=mask, reason=_STATES_SIZES)


def _spatial_shapes(forward: Forward) -> Domain:
    return Domain(Kind.FIXED, (2,), value=torch.tensor(_SHAPES), reason=_STATES_SIZES)


def _pixel_mask(forward: Forward) -> Domain:
    """Images of several sizes in a batch are padded on the right and at the bottom."""
    height, width = vision_shape(forward)[-2:]
    # So small that padding reaches into a map of two by two.
    return Domain(Kind.AREA, (height, width), shortest=min(height, width) // 8)


def _bool_masked_pos(forward: Forward) -> Domain | None:
    """Masked patches, for the classes that predict them."""
    required = "bool_masked_pos" in forward.required
    if not required and not forward.name.endswith("ForMaskedImageModeling"):
        return None
    patches = patch_count(forward)
    # A class that cannot do without them puts the others aside, as many in each sample.
    true = patches // 2 if required else None
    return Domain(Kind.BOOL, (patches,), dtype=torch.bool, true=true)


def _noise(forward: Forward) -> Domain | None:
    """By which a masked autoencoder orders patches; drawn anew in each forward if not given."""
    return floats((patch_count(forward),)) if _stated(forward, ("mask_ratio",)) else None


def _grid(forward: Forward) -> list[int]:
    """Patches of an image along time, height and width: two merged ones a side."""
    merged = forward.setting("spatial_merge_size", "merge_kernel_size", "merge_size") or 1
    side = 2 * pair(merged)[0]
    return [1, side, side]


def _hidden_states(forward: Forward) -> Domain | None:
    """Flattened patches of all images, one to a row."""
    if not {"grid_thw", "image_grid_thw"} & set(forward.parameters):
        return None
    times = forward.setting("temporal_patch_size", "patch_temporal") or 1
    width = vision_shape(forward)[0] * times * forward.setting("patch_size") ** 2
    return Domain(
        Kind.FLOAT, (width,), torch.float32, rows=math.prod(_grid(forward)), low=-6, high=6
    )


def _grid_thw(forward: Forward) -> Domain:
    return Domain(Kind.FIXED, (3,), value=torch.tensor([_grid(forward)]), reason=_STATES_SIZES)


RULES: Final[Mapping[str, Callable[[Forward], Domain | None]]] = {
    "pixel_values": _pixel_values,
    "pixel_values_videos": lambda forward: floats(vision_shape(forward, videos=True)),
    "pixel_mask": _pixel_mask,
    "pixel_attention_mask": _pixel_attention_mask,
    "spatial_shapes": _spatial_shapes,
    "bool_masked_pos": _bool_masked_pos,
    "noise": _noise,
    "hidden_states": _hidden_states,
    "grid_thw": _grid_thw,
    "merge_sizes": lambda forward: Domain(
        Kind.FIXED, (), value=torch.tensor([1]), reason=_STATES_SIZES
    ),
}
