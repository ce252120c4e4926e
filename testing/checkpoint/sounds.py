"""Sounds through a checkpoint's feature extractor: chords with a little noise, one second each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from testing.checkpoint.numbered import NumberedInputs

__all__ = ["SoundInputs"]

_SECONDS: Final = 1.0
_TONES: Final = 4


class SoundInputs(NumberedInputs):
    """Sounds of one length."""

    plural = "sounds"
    families: tuple[str, ...] = ("chords", "more chords")

    def _processed(self, numbers: Sequence[int]) -> dict[str, Any]:
        rate = int(self._processor.sampling_rate)
        sounds = [chord(number, rate) for number in numbers]
        return dict(self._processor(sounds, sampling_rate=rate, return_tensors="pt"))


def chord(seed: int, rate: int) -> np.ndarray[Any, Any]:
    """A sound of `_SECONDS` at `rate` samples a second, the same for the same seed."""
    random = np.random.default_rng(seed)
    times = np.arange(int(rate * _SECONDS)) / rate
    tones = random.uniform(80, 1200, (_TONES, 1))
    wave = np.sin(2 * np.pi * tones * times).mean(0) * np.exp(-2 * times)
    noisy: np.ndarray[Any, Any] = wave + 0.01 * random.standard_normal(len(times))
    return noisy.astype(np.float32)
