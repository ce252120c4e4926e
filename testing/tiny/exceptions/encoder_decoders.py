"""Exceptions of encoder-decoders of text."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Final

from testing.inputs.domains import Domain, Kind
from testing.tiny.exceptions.change import Change

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]


def _channels(forward: Any) -> Domain:
    """A code for each channel of the sound at each step."""
    config = forward.config.decoder_config
    excluded = frozenset(forward.special.values())
    shape = (_STEPS, config.num_channels)
    return Domain(Kind.TOKENS, shape, high=config.vocab_size, excluded=excluded)


_STEPS: Final = 8
_IS_4: Final = version("transformers").startswith("4.")
_FSMT_MASK: Final = "read where use_cache is off alone, which is on"
_FSMT_4: Final = {
    "decoder_input_ids": (
        "given them, its decoder makes a cache from self.config, which it has not"
        " (modeling_fsmt.py:653); without, it shifts the encoder's and makes no cache"
    ),
    "decoder_attention_mask": "of decoder_input_ids",
}
_BERT: Final = {"model_type": "bert"}

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "bigbird_pegasus": (
        Change(
            "more blocks than a block attends to, else it falls back to full attention",
            {"block_size": 2, "num_random_blocks": 1},
        ),
    ),
    "diffusion_gemma": (
        Change(
            "experts as its checkpoints have them; the class leaves them open",
            defaults={
                "text_config": {
                    "num_experts": 128,
                    "top_k_experts": 8,
                    "moe_intermediate_size": 704,
                }
            },
        ),
    ),
    "encoder-decoder": (
        Change(
            "the class has no models of its own: two of BERT, as its documentation has",
            defaults={
                "encoder": _BERT,
                "decoder": {**_BERT, "is_decoder": True, "add_cross_attention": True},
            },
        ),
    ),
    "longt5": (
        Change(
            "neighbours within the length of the text, else it masks nothing",
            {"local_radius": 3, "global_block_size": 4},
        ),
    ),
    "pegasus_x": (
        Change("blocks of half the text, else it is padded to 512 tokens", {"block_size": 8}),
    ),
    "T5GemmaEncoderModel": (
        Change("the class refuses a configuration with a decoder", {"is_encoder_decoder": False}),
    ),
    "t5": (
        Change(
            "every checkpoint has one; the class leaves it open", {"decoder_start_token_id": 0}
        ),
    ),
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {
    "fsmt": _FSMT_4 if _IS_4 else {"decoder_attention_mask": _FSMT_MASK},
}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {"dia": {"decoder_input_ids": _channels}}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {}
