"""Exceptions of encoders of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from testing.inputs.domains import Domain, Kind
from testing.tiny.exceptions.change import Change
from testing.tiny.features import floats

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

_CUDA_KERNEL: Final = (
    "its attention is a CUDA kernel; mra2_attention returns zeros where that is not loaded"
)
_LEFT_AT_ONE: Final = (
    "1 + mask / 10000 as an integer is 1 for a mask of ones and zeros, and the model passes that "
    "on as it is"
)
# Before transformers 5 a nested configuration has these alone.
_FAST_SPEECH: Final = {
    "decoder_layers": 2,
    "encoder_linear_units": 96,
    "decoder_linear_units": 96,
}
_STEPS: Final = 16
_LANGUAGE: Final = Change(
    "no adapter is chosen without a language, and checkpoints come without one: users set it",
    {"default_language": "en_XX"},
)


def _codes(forward: Any) -> Domain:
    """A token of text at each step, and those of a codec for the sound at it."""
    config = forward.config
    size = min(config.vocab_size, config.codebook_vocab_size)
    excluded = frozenset(forward.special.values())
    shape = (_STEPS, config.num_codebooks + 1)
    return Domain(Kind.TOKENS, shape, high=size, excluded=excluded)


def _sections(width: int, height: int, depth: int) -> tuple[Change, ...]:
    rope = {"rope_type": "default", "mrope_section": [width, height, depth]}
    why = "checkpoints have sections of rotary embeddings; the class leaves them open"
    return (Change(why, defaults={"rope_scaling": rope}),)


CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "big_bird": (
        Change(
            "blocks of a seventh of the text, else it falls back to full attention",
            {"block_size": 2, "num_random_blocks": 1},
        ),
    ),
    "canine": (Change("its tables of hashes hold most weights", {"num_hash_buckets": 512}),),
    "esm": (
        Change(
            "the alphabet of proteins; the class leaves it open",
            defaults={"vocab_size": 33, "pad_token_id": 1, "mask_token_id": 32},
        ),
    ),
    "FastSpeech2ConformerModel": (
        Change("widths and depths with names of their own", _FAST_SPEECH),
    ),
    "FastSpeech2ConformerWithHifiGan": (
        Change(
            "as in FastSpeech2ConformerModel; the vocoder takes all bins of its spectrogram",
            {
                "model_config": _FAST_SPEECH,
                "vocoder_config": {"model_in_dim": 80, "upsample_initial_channel": 32},
            },
        ),
    ),
    "funnel": (Change("a layer for each resolution", {"block_sizes": [1, 1, 1]}),),
    "glm4v_moe_text": _sections(8, 12, 12),
    "glm4v_text": _sections(8, 12, 12),
    "gptsan-japanese": (Change("its depth has a name of its own", {"num_switch_layers": 2}),),
    "qwen2_5_vl_text": _sections(16, 24, 24),
    "qwen2_vl_text": _sections(16, 24, 24),
    "qwen3_vl_moe_text": _sections(24, 20, 20),
    "qwen3_vl_text": _sections(24, 20, 20),
    "ReformerModelWithLMHead": (
        Change("the class refuses a configuration of an encoder", {"is_decoder": True}),
    ),
    "retribert": (
        Change(
            "its BertModel reads an attribute that the configuration class has not",
            {"position_embedding_type": "absolute"},
        ),
    ),
    "xmod": (_LANGUAGE,),
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {
    "mega": {"token_type_ids": "embedded with add_token_type_embeddings alone, which is off"},
}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {
    "mra": {"attention_mask": _CUDA_KERNEL},
    "yoso": {"attention_mask": _LEFT_AT_ONE},
}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "kyutai_speech_to_text": {"input_ids": _codes},
    "voxtral_realtime_text": {"t_cond": lambda f: floats((1, f.config.hidden_size))},
}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {}
