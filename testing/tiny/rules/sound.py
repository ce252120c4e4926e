"""How long tiny sounds are, how they are laid out, and which mask says where they end."""

from __future__ import annotations

from typing import Final

from torch import nn

from testing.inputs.domains import Domain, Kind
from testing.tiny.exceptions import omitted_of
from testing.tiny.forward import Forward

__all__ = [
    "FRAMES",
    "SAMPLES",
    "SHORTEST_SOUND",
    "TARGET_FRAMES",
    "hears",
    "mask_name",
    "mel_bins",
    "pads_with_silence",
    "sound_mask",
    "spectrogram_shape",
    "takes_spectrogram",
    "takes_text",
    "waveform_shape",
]

# 24 frames of a wav2vec 2.0 encoder, of which the x-vector head's convolutions take 14.
SAMPLES: Final = 8000
SHORTEST_SOUND: Final = 6500
# Frames of a spectrogram, which encoders halve up to three times.
FRAMES: Final = 64
_SPARE_BESIDE_TEXT: Final = 3
# Frames of what a model is to speak, as many as a decoder's mask has places.
TARGET_FRAMES: Final = 8

_MASKS: Final = ("input_features_mask", "feature_attention_mask", "padding_mask")
_BINS: Final = (
    "num_mel_bins",
    "input_feat_per_channel",
    "feature_projection_input_dim",
    "input_feat_size",
    "num_chroma",
    "input_dim",
    "feature_size",
)
# Where the configuration does not say.
_USUAL_BINS: Final = 80


def pads_with_silence(forward: Forward) -> bool:
    """Whether a speech model wants no mask, only zeros at the end.

    transformers' documentation of wav2vec 2.0 and its kin: where the processor does not return a
    mask, none should be passed; that is so for the checkpoints with a group norm over time, the
    default configuration.
    """
    return getattr(forward.config, "feat_extract_norm", None) == "group"


def hears(forward: Forward) -> bool:
    """Whether it takes a waveform or a spectrogram."""
    names = {"input_values", "input_features", "audio_mel"}
    return not names.isdisjoint(forward.parameters)


def takes_text(forward: Forward) -> bool:
    """Whether it is given a text too."""
    omitted = omitted_of(forward.model_type, forward.name)
    return "input_ids" in forward.parameters and "input_ids" not in omitted


def mel_bins(forward: Forward) -> int:
    """Values of one frame of a spectrogram."""
    stacked = forward.setting("num_stacked_frames") or 1
    return int(forward.setting(*_BINS) or _USUAL_BINS) * int(stacked)


def takes_spectrogram(forward: Forward) -> bool:
    """Whether its sound is a spectrogram, which some models call `input_values` as well."""
    if "input_values" not in forward.parameters:
        return True
    # SpeechT5 hears waveforms, with convolutions like those of wav2vec 2.0, and speaks in bins.
    return hasattr(forward.config, "num_mel_bins") and not hasattr(forward.config, "conv_dim")


def spectrogram_shape(forward: Forward) -> tuple[int, int]:
    """Bins and frames where the first layer is a convolution over time, else frames first."""
    bins, frames = mel_bins(forward), _frames(forward)
    return (bins, frames) if _has_bins_first(forward, bins) else (frames, bins)


def waveform_shape(forward: Forward) -> tuple[int, ...]:
    """Samples; codecs have an axis of channels before them."""
    is_codec = forward.setting("codebook_size", "codebook_dim") is not None
    channels = forward.setting("audio_channels", "channels") or (1 if is_codec else None)
    return (SAMPLES,) if channels is None else (channels, SAMPLES)


def mask_name(forward: Forward) -> str | None:
    """Name of the mask of the sound, where the forward takes one."""
    taken = forward.parameters
    if not hears(forward) or "input_values" in taken and takes_spectrogram(forward):
        return None
    for name in _MASKS:
        if name in taken:
            return name
    is_alone = not takes_text(forward) and not pads_with_silence(forward)
    return "attention_mask" if is_alone and "attention_mask" in taken else None


def sound_mask(forward: Forward) -> Domain:
    """A mask with a place for each sample of a waveform or each frame of a spectrogram.

    Beside a text a sound's length varies little: the text has as many places for every sound.
    """
    if not takes_spectrogram(forward):
        return Domain(Kind.MASK, (SAMPLES,), shortest=SHORTEST_SOUND)
    frames = _frames(forward)
    spare = _SPARE_BESIDE_TEXT if takes_text(forward) else frames // 2
    return Domain(Kind.MASK, (frames,), shortest=frames - spare)


def _frames(forward: Forward) -> int:
    if _has_bins_first(forward, mel_bins(forward)):
        return 2 * int(forward.setting("max_source_positions") or FRAMES // 2)
    return FRAMES


def _has_bins_first(forward: Forward, bins: int) -> bool:
    """Whether the first layer is Whisper's: a convolution whose channels are the bins."""
    return any(
        name.rpartition(".")[2] in ("conv1", "mel_conv")
        and isinstance(module, nn.Conv1d)
        and module.in_channels == bins
        for name, module in forward.model.named_modules()
    )
