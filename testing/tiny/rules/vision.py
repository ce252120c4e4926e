"""Inputs of images and videos."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import torch

from testing.inputs.domains import Domain, Kind
from testing.tiny.features import floats
from testing.tiny.forward import Forward

__all__ = ["RULES", "image_size"]


def image_size(config: Any) -> tuple[int, int]:
    """Height and width in pixels that a configuration states."""
    size = getattr(config, "image_size", 64)
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    return int(height), int(width)


def _pixel_values(forward: Forward) -> Domain:
    channels = getattr(forward.vision_config, "num_channels", 3)
    return floats((channels, *image_size(forward.vision_config)))


def _bool_masked_pos(forward: Forward) -> Domain | None:
    """Masked patches, for the classes that predict them."""
    if not forward.name.endswith("ForMaskedImageModeling"):
        return None
    height, width = image_size(forward.config)
    patch = forward.config.patch_size
    return Domain(Kind.BOOL, ((height // patch) * (width // patch),), dtype=torch.bool)


RULES: Final[Mapping[str, Callable[[Forward], Domain | None]]] = {
    "pixel_values": _pixel_values,
    "bool_masked_pos": _bool_masked_pos,
}
