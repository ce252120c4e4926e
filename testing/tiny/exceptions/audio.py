"""Exceptions of models of sound, with text too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from testing.tiny.exceptions.change import Change

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "audio-spectrogram-transformer": (
        Change("a tenth of the patches of ten seconds of sound", {"max_length": 64}),
    ),
    "vits": (
        Change(
            "the vocoder's convolutions hold most weights, and its rates the samples per frame",
            {
                "hidden_size": 32,
                "flow_size": 32,
                "upsample_initial_channel": 32,
                "upsample_rates": [4, 4],
                "upsample_kernel_sizes": [8, 8],
                "posterior_encoder_num_wavenet_layers": 2,
                "prior_encoder_num_wavenet_layers": 2,
            },
        ),
    ),
    "Wav2Vec2ConformerForCTC": (
        Change("letters of a CTC alphabet; the class leaves it open", {"vocab_size": 32}),
    ),
    "whisper": (Change("a second of sound instead of thirty", {"max_source_positions": 32}),),
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {
    "Wav2Vec2ForMaskedLM": {"attention_mask": "its forward takes it and does not pass it on"},
    "whisper": {"attention_mask": "of features it is read by SpecAugment only, while training"},
}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {}
