"""Inputs of sound: waveforms and spectrograms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from testing.inputs.domains import Domain
from testing.tiny.features import floats
from testing.tiny.forward import Forward
from testing.tiny.rules.sound import SAMPLES, SHORTEST_SOUND

__all__ = ["RULES"]


def _input_values(forward: Forward) -> Domain:
    bins = getattr(forward.config, "num_mel_bins", None)
    if bins is not None:
        return floats((forward.config.max_length, bins))
    return floats((SAMPLES,), mask="attention_mask", shortest=SHORTEST_SOUND)


def _input_features(forward: Forward) -> Domain:
    return floats((forward.config.num_mel_bins, 2 * forward.config.max_source_positions))


RULES: Final[Mapping[str, Callable[[Forward], Domain | None]]] = {
    "input_values": _input_values,
    "input_features": _input_features,
}
