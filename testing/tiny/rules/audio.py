"""Inputs of sound: waveforms and spectrograms, and their masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import torch

from testing.inputs.domains import Domain, Kind
from testing.tiny.features import floats
from testing.tiny.forward import Forward
from testing.tiny.rules import sound

__all__ = ["RULES", "spectrogram", "waveform"]


def waveform(forward: Forward) -> Domain:
    """A waveform, with zeros where it has ended."""
    shape = sound.waveform_shape(forward)
    mask = sound.mask_name(forward) if len(shape) == 1 else None
    return floats(shape, mask=mask, shortest=sound.SHORTEST_SOUND)


def spectrogram(forward: Forward) -> Domain:
    """A spectrogram; where its frames come first, those that the mask excludes are zero."""
    shape = sound.spectrogram_shape(forward)
    follows = shape[-1] == sound.mel_bins(forward)
    return floats(shape, mask=sound.mask_name(forward) if follows else None)


def _input_values(forward: Forward) -> Domain:
    if not sound.takes_spectrogram(forward):
        return waveform(forward)
    length = getattr(forward.config, "max_length", None)
    return floats((length or sound.FRAMES, sound.mel_bins(forward)))


def _mask(name: str) -> Callable[[Forward], Domain | None]:
    """The rule of a mask of sound called `name`."""
    return lambda forward: sound.sound_mask(forward) if sound.mask_name(forward) == name else None


def _decoder_input_values(forward: Forward) -> Domain:
    return floats((sound.TARGET_FRAMES, sound.mel_bins(forward)), mask="decoder_attention_mask")


def _speaker_embeddings(forward: Forward) -> Domain | None:
    width = getattr(forward.config, "speaker_embedding_dim", None)
    return None if width is None else floats((width,))


def _audio_mel_mask(forward: Forward) -> Domain:
    # True is padding here.
    frames = sound.spectrogram_shape(forward)[0]
    return Domain(Kind.MASK, (frames,), dtype=torch.bool, inverted=True)


def _latents(forward: Forward) -> Domain:
    # What an encoder of sound makes: a channel for each of its widths.
    return floats((forward.config.hidden_size, sound.TARGET_FRAMES))


def _noise_sequence(forward: Forward) -> Domain:
    return floats((sound.FRAMES, forward.config.model_in_channels))


RULES: Final[Mapping[str, Callable[[Forward], Domain | None]]] = {
    "input_values": _input_values,
    "input_features": spectrogram,
    "input_features_mask": _mask("input_features_mask"),
    "feature_attention_mask": _mask("feature_attention_mask"),
    "padding_mask": _mask("padding_mask"),
    "audio_mel": lambda forward: floats(sound.spectrogram_shape(forward), mask="audio_mel_mask"),
    "audio_mel_mask": _audio_mel_mask,
    "latents": _latents,
    "noise_sequence": _noise_sequence,
    "decoder_input_values": _decoder_input_values,
    "speaker_embeddings": _speaker_embeddings,
}
