"""Sounds through a checkpoint's feature extractor: chords with a little noise, one second each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

__all__ = ["SoundInputs"]

_FAMILIES: Final = ("chords", "high")
_SECONDS: Final = 1.0
_TONES: Final = 4


class SoundInputs:
    """Sounds of one length.

    Attributes:
        batch_size: Batch of the traced inputs.
        families: Names of the fresh sets.
        unchanged: Leaves that the extractor gives for every sound alike.
    """

    def __init__(self, extractor: Any, batch_size: int = 2) -> None:
        """Process with `extractor`, the checkpoint's own."""
        self._extractor = extractor
        self.batch_size = batch_size
        self.families: tuple[str, ...] = _FAMILIES
        self.unchanged: Mapping[str, str] = {
            name: "sounds of one length have no padding"
            for name in self.traced()
            if name.endswith("mask")
        }

    def traced(self) -> dict[str, Any]:
        """Two sounds."""
        return self._processed(0, self.batch_size)

    def fresh(self, family: str, batch_size: int | None = None) -> dict[str, Any]:
        """Other sounds."""
        first = 100 * (1 + _FAMILIES.index(family))
        return self._processed(first, batch_size or self.batch_size)

    def _processed(self, first: int, count: int) -> dict[str, Any]:
        rate = int(self._extractor.sampling_rate)
        sounds = [chord(first + number, rate) for number in range(count)]
        return dict(self._extractor(sounds, sampling_rate=rate, return_tensors="pt"))


def chord(seed: int, rate: int) -> np.ndarray[Any, Any]:
    """A sound of `_SECONDS` at `rate` samples a second, the same for the same seed."""
    random = np.random.default_rng(seed)
    times = np.arange(int(rate * _SECONDS)) / rate
    tones = random.uniform(80, 1200, (_TONES, 1))
    wave = np.sin(2 * np.pi * tones * times).mean(0) * np.exp(-2 * times)
    noisy: np.ndarray[Any, Any] = wave + 0.01 * random.standard_normal(len(times))
    return noisy.astype(np.float32)
