"""Exceptions of models of sound, with text too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import torch

from testing.inputs.domains import Domain, Kind, Run
from testing.tiny.exceptions.change import Change
from testing.tiny.features import floats

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

_ALPHABET: Final = Change(
    "letters of a CTC alphabet; the class leaves it open", {"vocab_size": 32}
)
_NO_FORWARD: Final = "the class has no forward: its parts are called from generate() alone"
_LENGTH_ALONE: Final = "the codec reads its length and not its values"
_COUNT_ALONE: Final = "it tells how many features are read, and a text has places for one number"
_EITHER: Final = "with features of sound it does not read a text"
_CLVP_HEADS: Final = {"hidden_size": 64, "num_attention_heads": 2}
_PARTS_OF_MUSICGEN: Final = Change(
    "parts without which the class has no defaults",
    {"audio_encoder": {"num_filters": 4}},
    defaults={
        "text_encoder": {"model_type": "t5"},
        "audio_encoder": {"model_type": "encodec"},
        "decoder": {},
    },
)

_GRANITE_SPEECH: Final = (
    Change(
        "the projector reads what the encoder makes; the class's defaults do not fit",
        defaults={
            "projector_config": {"model_type": "blip_2_qformer", "encoder_hidden_size": 1024}
        },
    ),
    Change("three queries for each window, a multiple of their rate", {"window_size": 15}),
)
_QWEN3_CHUNKS: Final = Change(
    "chunks of 100 frames, which alone it counts as it convolves them", {"n_window": 50}
)
# Samples of a frame: their product.
_960: Final = [8, 5, 4, 2, 3]
_VIBEVOICE_WIDTHS: Final = {"num_filters": 2, "depths": [1] * 7}
_VIBEVOICE: Final = "widths that double at six stages, with a block at each"
# Halved twice, 63 to 66 frames leave 16: as many places in the text, and yet masks that differ.
_ODD_FRAMES: Final = Change(
    "a second of sound instead of thirty", {"audio_config": {"max_source_positions": 33}}
)

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "audio-spectrogram-transformer": (
        Change("a tenth of the patches of ten seconds of sound", {"max_length": 64}),
    ),
    "audioflamingo3": (_ODD_FRAMES,),
    "audioflamingo3_encoder": (Change(_ODD_FRAMES.why, {"max_source_positions": 33}),),
    "clap": (
        Change(
            "a spectrogram a quarter as large, whose last of four stages is a window",
            {"audio_config": {"spec_size": 128, "num_mel_bins": 32, "window_size": 4}},
        ),
    ),
    "clvp": (
        Change(
            "as many codes of speech as the decoder says; the class's defaults do not fit",
            {"speech_config": {"vocab_size": 512}},
        ),
        Change(
            "heads of 32, the least that its rotary embedding takes",
            {"text_config": _CLVP_HEADS, "speech_config": {"vocab_size": 512, **_CLVP_HEADS}},
        ),
    ),
    "csm": (
        Change(
            "a quarter of the codebooks",
            {
                "num_codebooks": 8,
                "depth_decoder_config": {"num_codebooks": 8},
                "codec_config": {"num_quantizers": 8},
            },
        ),
    ),
    "encodec": (
        Change("the LSTMs hold most weights: 16 times as wide as this", {"num_filters": 4}),
    ),
    "granite_speech": _GRANITE_SPEECH,
    "granite_speech_plus": _GRANITE_SPEECH,
    "higgs_audio_v2_tokenizer": (
        Change(
            "a frame for two of its semantic encoder, as in checkpoints; the defaults do not fit",
            {
                "acoustic_model_config": {
                    "downsampling_ratios": _960,
                    "upsampling_ratios": _960,
                    # Which double and halve at each of five stages.
                    "encoder_hidden_size": 4,
                    "decoder_hidden_size": 64,
                },
            },
        ),
    ),
    "mctct": (Change("the heads share the width among them", {"attention_head_dim": 48}),),
    "MusicgenForConditionalGeneration": (_PARTS_OF_MUSICGEN,),
    "MusicgenMelodyForConditionalGeneration": (_PARTS_OF_MUSICGEN,),
    "moonshine_streaming": (
        Change("the class says it of its encoder alone", {"num_key_value_heads": 2}),
    ),
    "moss_transcribe_diarize": (
        Change(
            "a second of sound instead of thirty", {"audio_config": {"max_source_positions": 32}}
        ),
    ),
    "musicflamingo": (
        _ODD_FRAMES,
        Change(
            "the type of its encoder, which it looks for",
            defaults={
                "audio_config": {"model_type": "audioflamingo3_encoder"},
                "text_config": {"model_type": "qwen2"},
            },
        ),
    ),
    "qwen2_audio": (_ODD_FRAMES,),
    "qwen3_asr": (
        Change(_QWEN3_CHUNKS.why, {"audio_config": _QWEN3_CHUNKS.config}),
        Change(
            "the encoder makes features as wide as the text; the class's defaults do not fit",
            defaults={"audio_config": {"model_type": "qwen3_asr_encoder", "output_dim": 2048}},
        ),
    ),
    "qwen3_asr_encoder": (_QWEN3_CHUNKS,),
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
    "vibevoice": (
        Change(
            _VIBEVOICE,
            {"audio_config": _VIBEVOICE_WIDTHS, "semantic_model_config": _VIBEVOICE_WIDTHS},
        ),
    ),
    "vibevoice_acoustic_tokenizer": (Change(_VIBEVOICE, _VIBEVOICE_WIDTHS),),
    "vibevoice_acoustic_tokenizer_decoder": (Change(_VIBEVOICE, _VIBEVOICE_WIDTHS),),
    "vibevoice_acoustic_tokenizer_encoder": (Change(_VIBEVOICE, _VIBEVOICE_WIDTHS),),
    "vibevoice_asr": (
        Change(
            _VIBEVOICE,
            {
                "acoustic_tokenizer_encoder_config": _VIBEVOICE_WIDTHS,
                "semantic_tokenizer_encoder_config": _VIBEVOICE_WIDTHS,
            },
        ),
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

_ONE_LENGTH: Final = {
    "attention_mask": "it hears sounds of one length; a mask goes to attention as it is"
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {
    **dict.fromkeys(
        ("moss_transcribe_diarize_audio", "qwen2_audio_encoder", "voxtral_encoder"), _ONE_LENGTH
    ),
    "MusicgenForConditionalGeneration": {
        "input_values": "codes are made of a sound only where no decoder_input_ids are given",
        "padding_mask": "of the sound in place of decoder_input_ids",
    },
    "moss_transcribe_diarize": {"padding_mask": "its forward takes it and reads it nowhere"},
    "Pop2PianoForConditionalGeneration": {"input_ids": _EITHER},
    "SeamlessM4TModel": {"input_ids": _EITHER},
    "SeamlessM4Tv2Model": {"input_ids": _EITHER},
    "SpeechT5Model": {
        "speaker_embeddings": "read by the decoder's prenet, which ForTextToSpeech alone has"
    },
    "speech-encoder-decoder": {
        "input_features": "another name for what a spectrogram encoder hears; this hears waveforms"
    },
    "Wav2Vec2ForMaskedLM": {"attention_mask": "its forward takes it and does not pass it on"},
    "whisper": {"attention_mask": "of features it is read by SpecAugment only, while training"},
}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {
    "encodec": {
        "padding_mask": "read where the configuration normalizes, else for its length alone"
    },
    "glmasr": {"input_features_mask": _COUNT_ALONE},
    "mimi": {"padding_mask": _LENGTH_ALONE},
    "mimi_encoder": {"padding_mask": _LENGTH_ALONE},
    "moss_transcribe_diarize": {"input_features_mask": _COUNT_ALONE},
    "omniasr": {"padding_mask": _COUNT_ALONE},
    "pocket_tts_audio_tokenizer_encoder": {"padding_mask": _LENGTH_ALONE},
    "qwen3_asr": {"input_features_mask": _COUNT_ALONE},
    "vibevoice": {"padding_mask": _COUNT_ALONE},
    "vibevoice_asr": {"padding_mask": _COUNT_ALONE},
}


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


def _moshi_codes(forward: Any) -> Domain:
    """Codes of a voice, as many as the text has tokens."""
    config = forward.config
    return Domain(Kind.INDEX, (config.num_codebooks, 16), high=config.audio_vocab_size)


def _text(stands: Callable[[Any], list[int]]) -> Mapping[str, Callable[[Any], Domain]]:
    """Rules of a text with places for a sound, for models that cannot be asked how many."""

    def ids(forward: Any) -> Domain:
        run = stands(forward)
        config = forward.text_config
        return Domain(
            Kind.TOKENS,
            (16 + len(run),),
            high=getattr(config, "text_vocab_size", config.vocab_size),
            excluded=frozenset(forward.special.values()),
            # CSM's default pads with the token that stands for sound.
            pad=0 if config.pad_token_id in (None, *run) else config.pad_token_id,
            mask="attention_mask",
            runs=(Run(tuple(run)),),
        )

    def mask(forward: Any) -> Domain:
        length = len(stands(forward))
        return Domain(Kind.MASK, (16 + length,), shortest=8 + length)

    return {"input_ids": ids, "attention_mask": mask}


def _ones(length: int) -> Domain:
    """A mask of features that excludes none."""
    return Domain(
        Kind.FIXED,
        (length,),
        value=torch.ones(1, length, dtype=torch.bool),
        reason="it marks as many features as the text has places",
    )


_MUSICGEN: Final = {"input_ids": _codes("num_codebooks")}
_MUSICGEN_WITH_TEXT: Final = {"decoder_input_ids": _codes("num_codebooks")}
# The mask is of the features that the projector makes: three of every 15 frames.
_GRANITE_SPEECH_FEATURES: Final = {
    "input_features": lambda forward: floats((64, forward.config.encoder_config.input_dim)),
    "input_features_mask": lambda forward: _ones(15),
}
# Bins and their deltas, two frames at a time.
_GRANITE_SPEECH5: Final = {
    "input_features": lambda forward: floats(
        (64, 4 * forward.setting("num_mel_bins")), mask="attention_mask"
    ),
}
_ONE_CHANNEL: Final = {"input_values": lambda forward: floats((1, 8000), shortest=6500)}
# 8000 samples, and the spectrogram of them whose frames are 320 samples long.
_TWO_HEARINGS: Final = {
    "input_values": lambda forward: floats((1, 8000), shortest=6500),
    # Short enough that NeuCodec, which counts three codes for two frames, excludes some.
    "padding_mask": lambda forward: Domain(Kind.MASK, (1, 8000), shortest=2500),
    "input_features": lambda forward: floats(
        (25, forward.setting("feature_projection_input_dim")), mask="input_features_mask"
    ),
    "input_features_mask": lambda forward: Domain(Kind.MASK, (25,)),
}
# A whole number of the codec's frames.
_PE_AUDIO: Final = {
    "input_values": lambda forward: floats((1, 4 * 1920), shortest=2 * 1920),
    "padding_mask": lambda forward: Domain(Kind.MASK, (4 * 1920,), shortest=2 * 1920),
}
# Two chunks; 97 to 100 frames of one become 13.
_QWEN3_ASR: Final = {
    "input_features": lambda forward: floats((forward.setting("num_mel_bins"), 200)),
    "input_features_mask": lambda forward: Domain(Kind.MASK, (200,), shortest=197),
}
# SpeechT5's encoder and decoder without their prenets, which are in its classes of tasks.
_SPEECHT5_WITHOUT_PRENETS: Final = {
    "input_values": lambda forward: floats((16, forward.config.hidden_size)),
    "attention_mask": lambda forward: Domain(Kind.MASK, (16,)),
    "decoder_input_values": lambda forward: floats((8, forward.config.hidden_size)),
}

# Halved twice: 63 to 66 frames leave 16.
_QWEN2_AUDIO: Final = _text(lambda forward: [forward.setting("audio_token_id")] * 16)
# Frames of the codec, each of the product of its rates, and the token that ends them.
_CSM_FRAMES: Final = 5
_CSM: Final = _text(
    lambda forward: [
        *[forward.config.audio_token_id] * _CSM_FRAMES,
        forward.config.audio_eos_token_id,
    ]
)

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "csm": {
        **_CSM,
        "input_values_cutoffs": lambda forward: Domain(
            Kind.INDEX, (1,), low=_CSM_FRAMES * 1920 - 1900, high=_CSM_FRAMES * 1920 - 1600
        ),
    },
    "clap": {"input_features": lambda forward: floats((1, 500, 32))},
    "MoshiForConditionalGeneration": {
        "moshi_audio_codes": _moshi_codes,
        "user_audio_codes": _moshi_codes,
    },
    "MusicgenForCausalLM": _MUSICGEN,
    "MusicgenForConditionalGeneration": _MUSICGEN_WITH_TEXT,
    "MusicgenMelodyForCausalLM": _MUSICGEN,
    "MusicgenMelodyForConditionalGeneration": _MUSICGEN_WITH_TEXT,
    "MusicgenMelodyModel": _MUSICGEN,
    "MusicgenModel": _MUSICGEN,
    "fun_asr_nano": {"input_features_mask": lambda forward: _ones(64)},
    "gemma4_audio": {
        # Two halvings later a band for each four channels of the first convolution.
        "input_features": lambda forward: floats(
            (64, forward.config.subsampling_conv_channels[0]), mask="attention_mask"
        ),
    },
    "glmasr": {
        "input_features_mask": lambda forward: Domain(Kind.MASK, (64,), shortest=63),
    },
    "higgs_audio_v2_tokenizer": {"input_values": lambda forward: floats((1, 10 * 960))},
    "granite_speech5_ctc": _GRANITE_SPEECH5,
    "granite_speech5_encoder": _GRANITE_SPEECH5,
    "granite_speech": _GRANITE_SPEECH_FEATURES,
    "granite_speech_plus": _GRANITE_SPEECH_FEATURES,
    "moss_transcribe_diarize": {
        **_text(lambda forward: [forward.setting("audio_token_id")] * 8),
        "input_features_mask": lambda forward: Domain(Kind.MASK, (64,), shortest=57),
    },
    "musicflamingo": _text(
        lambda forward: [
            forward.config.audio_bos_token_id,
            *[forward.config.audio_token_id] * 16,
            forward.config.audio_eos_token_id,
        ]
    ),
    "nemotron3_5_transcribe_word_timestamp": {
        "inputs_embeds": lambda forward: floats(
            (16, forward.config.hidden_size), mask="attention_mask"
        ),
        "attention_mask": lambda forward: Domain(Kind.MASK, (16,)),
    },
    "omniasr": {
        **_ONE_CHANNEL,
        # 24 frames of the encoder, as of the whole.
        "padding_mask": lambda forward: Domain(Kind.MASK, (8000,), shortest=7770),
    },
    "omniasr_audio": _ONE_CHANNEL,
    "omniasr_ctc": _ONE_CHANNEL,
    # A whole number of patches of patches.
    "muse_spark_audio": {"input_values": lambda forward: floats((7680,), shortest=6500)},
    "neucodec": {
        **_TWO_HEARINGS,
        # Its decoder reads it as an attention mask, so that the documented axis of channels fails.
        "padding_mask": lambda forward: Domain(Kind.MASK, (8000,), shortest=2500),
    },
    "pe_audio": _PE_AUDIO,
    "pe_audio_encoder": _PE_AUDIO,
    "qwen3_asr": _QWEN3_ASR,
    "qwen3_asr_encoder": {
        **_QWEN3_ASR,
        "input_features_mask": lambda forward: Domain(Kind.MASK, (200,), shortest=110),
    },
    "vibevoice_acoustic_tokenizer_decoder": {
        "hidden_states": lambda forward: floats((forward.config.hidden_size, 4)),
    },
    "vibevoice_acoustic_tokenizer_encoder": {
        "hidden_states": lambda forward: floats((1, 8000), shortest=6500),
    },
    "voxtral_realtime": {
        # A text beside the sound, a token for every eight frames.
        "input_ids": lambda forward: Domain(
            Kind.TOKENS,
            (8,),
            high=forward.text_config.vocab_size,
            excluded=frozenset(forward.special.values()),
            mask="attention_mask",
        ),
        "attention_mask": lambda forward: Domain(Kind.MASK, (8,)),
    },
    "voxtral_realtime_encoder": {
        # Of what two convolutions make of the frames.
        "attention_mask": lambda forward: Domain(Kind.MASK, (32,)),
    },
    "xcodec2": _TWO_HEARINGS,
    "pop2piano": {
        "input_features": lambda forward: floats((64, forward.config.d_model)),
        "attention_mask": lambda forward: Domain(Kind.MASK, (64,)),
    },
    "qwen2_audio": _QWEN2_AUDIO,
    "SpeechT5Model": _SPEECHT5_WITHOUT_PRENETS,
}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {
    "BarkModel": _NO_FORWARD,
    "JukeboxModel": _NO_FORWARD,
}
