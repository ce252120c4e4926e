"""How long tiny sounds are, and which models want no mask of them."""

from __future__ import annotations

from typing import Final

from testing.tiny.forward import Forward

__all__ = ["SAMPLES", "SHORTEST_SOUND", "pads_with_silence"]

# 24 frames of a wav2vec 2.0 encoder, of which the x-vector head's convolutions take 14.
SAMPLES: Final = 8000
SHORTEST_SOUND: Final = 6500


def pads_with_silence(forward: Forward) -> bool:
    """Whether a speech model wants no mask, only zeros at the end.

    transformers' documentation of wav2vec 2.0 and its kin: where the processor does not return a
    mask, none should be passed; that is so for the checkpoints with a group norm over time, the
    default configuration.
    """
    return getattr(forward.config, "feat_extract_norm", None) == "group"
