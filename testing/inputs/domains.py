"""What values one input leaf may have."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import torch

__all__ = ["Domain", "Kind", "Place", "Run"]


class Kind(str, Enum):
    """What a leaf means, which decides how it is drawn.

    `AREA` is a mask of pixels, with ones in an image's rectangle; `MARKS` says of each token of
    another leaf what it stands for. `BOXES` are corners
    ``(x0, y0, x1, y1)`` along the last axis, the first never beyond the second.
    """

    TOKENS = "tokens"
    MASK = "mask"
    AREA = "area"
    POSITIONS = "positions"
    MARKS = "marks"
    BOXES = "boxes"
    INDEX = "index"
    FLOAT = "float"
    BOOL = "bool"
    FIXED = "fixed"


class Place(str, Enum):
    """Where in a sample's real tokens a run of special ones stands."""

    START = "start"
    END = "end"
    ANYWHERE = "anywhere"


@dataclass(frozen=True)
class Run:
    """Special tokens that every sample holds once, side by side.

    Classes that look for a token (`BartForSequenceClassification` for its end of sequence) want
    the same number of it in every sample, and as many placeholders as an image has features.
    """

    tokens: tuple[int, ...]
    place: Place = Place.ANYWHERE


@dataclass(frozen=True)
class Domain:
    """The values that one leaf may have.

    Attributes:
        kind: What the leaf means.
        shape: Shape without axis 0 where the leaf is batched, else the whole shape.
        dtype: Its dtype.
        batched: Whether axis 0 is the batch.
        rows: Entries of axis 0 for each sample.
        abreast: Whether samples lie side by side along the last axis instead, behind one of 1.
        low: Smallest value; of tokens, the first id.
        high: Largest value of a float, else the first integer beyond the range.
        excluded: Ids that no regular token has: special ones.
        pad: Id at padded positions.
        mask: Path of the mask whose padding this leaf follows.
        runs: Special tokens in every sample.
        marked: Path of the ids that marks belong to.
        marks: Mark of each marked id; every other has 0.
        shortest: Fewest real positions of a mask's row, half of the row by default; of features
            without a mask, fewest along their last axis before the zeros that pad them.
        true: How many entries of a sample of bools are true, where that is no matter of chance.
        inverted: Whether it is the ones of a mask that are padding.
        value: The leaf itself, where it is fixed.
        reason: Why a fixed leaf cannot differ.
    """

    kind: Kind
    shape: tuple[int, ...]
    dtype: torch.dtype = torch.int64
    batched: bool = True
    rows: int = 1
    abreast: bool = False
    low: float = 0
    high: float = 2
    excluded: frozenset[int] = frozenset()
    pad: int = 0
    mask: str | None = None
    runs: tuple[Run, ...] = ()
    marked: str | None = None
    marks: tuple[tuple[int, int], ...] = ()
    shortest: int | None = None
    inverted: bool = False
    true: int | None = None
    value: torch.Tensor | None = None
    reason: str = ""

    def full_shape(self, batch_size: int) -> tuple[int, ...]:
        """Shape of the leaf at a batch size."""
        return (batch_size * self.rows, *self.shape) if self.batched else self.shape

    @cached_property
    def regular(self) -> torch.Tensor:
        """The regular token ids, in order; every id where all are special."""
        ids = [i for i in range(int(self.low), int(self.high)) if i not in self.excluded]
        return torch.tensor(ids or list(range(int(self.low), int(self.high))))
