"""Exceptions of models of sound, with text too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from testing.inputs.domains import Domain, Kind
from testing.tiny.exceptions.change import Change
from testing.tiny.features import floats

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

_ALPHABET: Final = Change(
    "letters of a CTC alphabet; the class leaves it open", {"vocab_size": 32}
)
_NO_FORWARD: Final = "the class has no forward: its parts are called from generate() alone"
_EITHER: Final = "with features of sound it does not read a text"
_PARTS_OF_MUSICGEN: Final = Change(
    "parts without which the class has no defaults",
    {"audio_encoder": {"num_filters": 4}},
    defaults={
        "text_encoder": {"model_type": "t5"},
        "audio_encoder": {"model_type": "encodec"},
        "decoder": {},
    },
)

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "audio-spectrogram-transformer": (
        Change("a tenth of the patches of ten seconds of sound", {"max_length": 64}),
    ),
    "clap": (
        Change(
            "a spectrogram a sixteenth as large, which still divides into four stages",
            {"audio_config": {"spec_size": 64, "num_mel_bins": 16, "window_size": 4}},
        ),
    ),
    "encodec": (
        Change("the LSTMs hold most weights: 16 times as wide as this", {"num_filters": 4}),
    ),
    "granite_speech": (
        Change(
            "the projector reads what the encoder makes; the class's defaults do not fit",
            defaults={
                "projector_config": {"model_type": "blip_2_qformer", "encoder_hidden_size": 1024}
            },
        ),
    ),
    "mctct": (Change("the heads share the width among them", {"attention_head_dim": 48}),),
    "MusicgenForConditionalGeneration": (_PARTS_OF_MUSICGEN,),
    "MusicgenMelodyForConditionalGeneration": (_PARTS_OF_MUSICGEN,),
    "speech-encoder-decoder": (
        Change(
            "parts without which the class has no defaults",
            {"decoder_start_token_id": 101, "pad_token_id": 0},
            defaults={
                "encoder": {"model_type": "wav2vec2"},
                "decoder": {
                    "model_type": "bert",
                    "is_decoder": True,
                    "add_cross_attention": True,
                },
            },
        ),
    ),
    "univnet": (
        Change("the kernels it predicts hold most weights", {"model_hidden_channels": 8}),
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
    "voxtral": (Change("the class leaves it open", defaults={"audio_token_id": 24}),),
    "Wav2Vec2BertForCTC": (_ALPHABET,),
    "Wav2Vec2ConformerForCTC": (_ALPHABET,),
    "whisper": (Change("a second of sound instead of thirty", {"max_source_positions": 32}),),
    "xcodec": (Change("the sum of two widths, which it computes", {"codebook_dim": None}),),
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {
    "MusicgenForConditionalGeneration": {
        "input_values": "codes are made of a sound only where no decoder_input_ids are given",
        "padding_mask": "of the sound in place of decoder_input_ids",
    },
    "Pop2PianoForConditionalGeneration": {"input_ids": _EITHER},
    "SeamlessM4TModel": {"input_ids": _EITHER},
    "SeamlessM4Tv2Model": {"input_ids": _EITHER},
    "speech-encoder-decoder": {
        "input_features": "another name for what a spectrogram encoder hears; this hears waveforms"
    },
    "Wav2Vec2ForMaskedLM": {"attention_mask": "its forward takes it and does not pass it on"},
    "whisper": {"attention_mask": "of features it is read by SpecAugment only, while training"},
}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {}


def _codes(codebooks: str) -> Callable[[Any], Domain]:
    """Ids of codes of sound, where each codebook of a sample has a row of its own."""

    def rule(forward: Any) -> Domain:
        is_decoder = "decoder_input_ids" in forward.parameters
        config = forward.config.decoder if is_decoder else forward.config
        return Domain(
            Kind.TOKENS,
            (8 if is_decoder else 16,),
            rows=getattr(config, codebooks),
            high=config.vocab_size,
            excluded=frozenset({config.pad_token_id}),
            pad=config.pad_token_id,
        )

    return rule


_MUSICGEN: Final = {"input_ids": _codes("num_codebooks")}
_MUSICGEN_WITH_TEXT: Final = {"decoder_input_ids": _codes("num_codebooks")}
# SpeechT5's encoder and decoder without their prenets, which are in its classes of tasks.
_SPEECHT5_WITHOUT_PRENETS: Final = {
    "input_values": lambda forward: floats((16, forward.config.hidden_size)),
    "attention_mask": lambda forward: Domain(Kind.MASK, (16,)),
    "decoder_input_values": lambda forward: floats((8, forward.config.hidden_size)),
}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "clap": {"input_features": lambda forward: floats((1, 250, 16))},
    "MusicgenForCausalLM": _MUSICGEN,
    "MusicgenForConditionalGeneration": _MUSICGEN_WITH_TEXT,
    "MusicgenMelodyForCausalLM": _MUSICGEN,
    "MusicgenMelodyForConditionalGeneration": _MUSICGEN_WITH_TEXT,
    "MusicgenMelodyModel": _MUSICGEN,
    "MusicgenModel": _MUSICGEN,
    "pop2piano": {
        "input_features": lambda forward: floats((66, forward.config.d_model)),
        "attention_mask": lambda forward: Domain(Kind.MASK, (66,)),
    },
    "SpeechT5Model": _SPEECHT5_WITHOUT_PRENETS,
}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {
    "BarkModel": _NO_FORWARD,
    "JukeboxModel": _NO_FORWARD,
}
