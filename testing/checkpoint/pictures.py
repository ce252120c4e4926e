"""Pictures through a checkpoint's image processor.

They are drawn: rectangles, discs and gradients, since no photographs come along. What a model of
photographs sees is then as far from noise as a drawing is, and is normalised as it expects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from testing.checkpoint.numbered import NumberedInputs

__all__ = ["PictureInputs"]

_SIZE: Final = (240, 320)
_SHAPES: Final = 6


class PictureInputs(NumberedInputs):
    """Drawn pictures of one size."""

    plural = "pictures"
    families: tuple[str, ...] = ("drawings", "more drawings")

    def _processed(self, numbers: Sequence[int]) -> dict[str, Any]:
        pictures = [drawing(number) for number in numbers]
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
