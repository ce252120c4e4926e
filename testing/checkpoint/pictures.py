"""Pictures through a checkpoint's image processor.

They are drawn: rectangles, discs and gradients, since no photographs come along. What a model of
photographs sees is then as far from noise as a drawing is, and is normalised as it expects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

__all__ = ["PictureInputs"]

_FAMILIES: Final = ("drawings", "bright")
_SIZE: Final = (240, 320)
_SHAPES: Final = 6


class PictureInputs:
    """Drawn pictures of one size.

    Attributes:
        batch_size: Batch of the traced inputs.
        families: Names of the fresh sets.
        unchanged: Leaves that the processor gives for every picture alike.
    """

    def __init__(self, processor: Any, batch_size: int = 2) -> None:
        """Process with `processor`, the checkpoint's own."""
        self._processor = processor
        self.batch_size = batch_size
        self.families: tuple[str, ...] = _FAMILIES
        self.unchanged: Mapping[str, str] = {
            name: "pictures of one size have no padding"
            for name in self.traced()
            if name.endswith("mask")
        }

    def traced(self) -> dict[str, Any]:
        """Two drawings."""
        return self._processed(0, self.batch_size)

    def fresh(self, family: str, batch_size: int | None = None) -> dict[str, Any]:
        """Other drawings."""
        first = 100 * (1 + _FAMILIES.index(family))
        return self._processed(first, batch_size or self.batch_size)

    def _processed(self, first: int, count: int) -> dict[str, Any]:
        pictures = [drawing(first + number) for number in range(count)]
        return dict(self._processor(images=pictures, return_tensors="pt"))


def drawing(seed: int) -> np.ndarray[Any, Any]:
    """A picture of (height, width, 3) bytes, the same for the same seed."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[: _SIZE[0], : _SIZE[1]] / max(_SIZE)
    slopes = random.uniform(-80, 80, (3, 2))
    ground = random.uniform(60, 190, 3) + rows[..., None] * slopes[:, 0]
    picture: np.ndarray[Any, Any] = ground + columns[..., None] * slopes[:, 1]
    for _ in range(_SHAPES):
        row, column, size = (
            random.uniform(0, 0.8),
            random.uniform(0, 0.8),
            random.uniform(0.1, 0.4),
        )
        disc = (rows - row) ** 2 + (columns - column) ** 2 < size**2 / 4
        square = (abs(rows - row) < size / 2) & (abs(columns - column) < size / 2)
        picture[disc if random.random() < 0.5 else square] = random.uniform(0, 255, 3)
    return picture.clip(0, 255).astype(np.uint8)
