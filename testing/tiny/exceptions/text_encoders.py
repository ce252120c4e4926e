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
_QUESTIONS: Final = 3
_LANGUAGE: Final = Change(
    "no adapter is chosen without a language, and checkpoints come without one: users set it",
    {"default_language": "en_XX"},
)


def _protein(forward: Any) -> Domain:
    config = forward.config.protein_encoder_config
    excluded = frozenset(forward.special.values())
    mask = "protein_attention_mask"
    size = config.vocab_size
    pad = config.pad_token_id
    return Domain(Kind.TOKENS, (_STEPS,), high=size, excluded=excluded, pad=pad, mask=mask)


def _codes(forward: Any) -> Domain:
    """A token of text at each step, and those of a codec for the sound at it."""
    config = forward.config
    size = min(config.vocab_size, config.codebook_vocab_size)
    excluded = frozenset(forward.special.values())
    shape = (_STEPS, config.num_codebooks + 1)
    return Domain(Kind.TOKENS, shape, high=size, excluded=excluded)


def _sections(*places: int) -> tuple[Change, ...]:
    rope = {"rope_type": "default", "mrope_section": list(places)}
    why = "checkpoints have sections of rotary embeddings; the class leaves them open"
    return (Change(why, defaults={"rope_scaling": rope}),)


CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "big_bird": (
        Change(
            "more blocks than a block attends to, else it falls back to full attention",
            {"block_size": 2, "num_random_blocks": 1},
        ),
    ),
    "canine": (Change("its tables of hashes hold most weights", {"num_hash_buckets": 512}),),
    "dots3_note_text": (
        Change(
            "layers with a sliding window have sizes of their own",
            {
                "swa_num_attention_heads": 2,
                "swa_num_key_value_heads": 2,
                "swa_q_lora_rank": 16,
                "swa_kv_lora_rank": 8,
                "swa_head_dim": 16,
                "swa_qk_nope_head_dim": 8,
                "swa_v_head_dim": 8,
            },
        ),
    ),
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
    "glm5_next_text": (
        Change("so many keys are pooled before the few are chosen", {"index_kpool": 2}),
    ),
    "glm_image_text": _sections(8, 12, 12),
    "glm_ocr_text": _sections(8, 12, 12),
    "glm4v_moe_text": _sections(8, 12, 12),
    "glm4v_text": _sections(8, 12, 12),
    "gptsan-japanese": (Change("its depth has a name of its own", {"num_switch_layers": 2}),),
    "hunyuan_vl_text": _sections(16, 16, 16, 16),
    "mistral_large4_text": (
        Change(
            "sources of keys by layer, of which most are cut; each its own, as by default",
            {"kv_source_layers": None},
        ),
    ),
    "qwen2_5_vl_text": _sections(16, 24, 24),
    "qwen2_vl_text": _sections(16, 24, 24),
    "qwen4_exp_text": (
        Change(
            "an indexer of keys, which its layers have always; the class leaves it open",
            {
                "indexer_n_heads": 2,
                "indexer_kv_heads": 1,
                "indexer_head_dim": 32,
                "indexer_budget": 4,
                "indexer_compress_ratio": 2,
            },
        ),
    ),
    "qwen3_vl_moe_text": _sections(24, 20, 20),
    "qwen3_vl_text": _sections(24, 20, 20),
    "reformer": (
        Change(
            "chunks of half the text, else its local layers attend to all of it",
            {"local_attn_chunk_length": 8},
        ),
    ),
    "ReformerModelWithLMHead": (
        Change("the class refuses a configuration of an encoder", {"is_decoder": True}),
    ),
    "retribert": (
        Change(
            "its BertModel reads an attribute that the configuration class has not",
            {"position_embedding_type": "absolute"},
        ),
    ),
    "sam3_lite_text_text_model": (
        Change("the first layer and the last attend to nothing", {"num_hidden_layers": 3}),
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
    "evolla": {
        "protein_input_ids": _protein,
        "protein_attention_mask": lambda forward: Domain(Kind.MASK, (_STEPS,)),
    },
    "jev": {
        "marks": lambda forward: Domain(Kind.INDEX, (_QUESTIONS,), low=1, high=_STEPS),
        "num_options": lambda forward: Domain(Kind.INDEX, (_QUESTIONS,), low=2, high=6),
        "question_type_ids": lambda forward: Domain(Kind.INDEX, (_QUESTIONS,), high=3),
    },
    "kyutai_speech_to_text": {"input_ids": _codes},
    "voxtral_realtime_text": {"t_cond": lambda f: floats((1, f.config.hidden_size))},
}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {}
