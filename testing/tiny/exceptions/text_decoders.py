"""Exceptions of decoders of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from testing.inputs.domains import Domain, Kind
from testing.tiny.exceptions.change import Change
from testing.tiny.features import floats

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

_NO_CUDA_KERNELS: Final = Change(
    "its CUDA kernels raise on every other device; both paths compute the same",
    {"use_mamba_kernels": False},
)

_LEFT_FROM_MLLAMA: Final = "of images, left from Mllama; it takes none and nothing reads them"
# Tokens that a drafting model proposes at once, and those accepted before.
_BLOCK: Final = 8
_ACCEPTED: Final = 8


def _accepted_states(forward: Any) -> Domain:
    layers = len(forward.config.target_layer_ids)
    return floats((_ACCEPTED, layers * forward.config.hidden_size))


CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "bamba": (
        Change(
            "an attention layer beside a mamba one, as checkpoints", {"attn_layer_indices": [1]}
        ),
    ),
    "codegen": (
        Change("its weights are laid out for four cores, each with whole heads", {"n_head": 4}),
    ),
    "cohere_compass_text": (
        Change(
            "the class leaves the rotary embedding of its layers open",
            {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 1e4}}},
        ),
    ),
    "dbrx": (
        Change(
            "5.24 reads a base of rotation that its class has no more; to clip by None raises",
            {"attn_config": {"rope_theta": 1e4, "clip_qkv": 8}},
        ),
    ),
    "deepseek_v4": (
        Change(
            "tokens that are compressed into one, fewer than there are",
            {
                "compress_rates": {
                    "compressed_sparse_attention": 4,
                    "heavily_compressed_attention": 8,
                }
            },
        ),
    ),
    "dory": (
        Change(
            "layers before, within and after the loop",
            {
                "num_hidden_layers": 3,
                "n_input_layers": 1,
                "n_recurrent_layers": 1,
                "n_output_layers": 1,
                "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            },
        ),
    ),
    "falcon": (
        Change(
            "its 71 heads are odd and cannot be made fewer by halves",
            {"hidden_size": 64, "num_attention_heads": 4, "num_kv_heads": 4},
        ),
    ),
    "gpt_neo": (
        Change(
            "a pair of attention types for each pair of layers; twelve pairs by default",
            {"attention_types": [[["global", "local"], 1]]},
        ),
    ),
    "granitemoehybrid": (
        Change(
            "both kinds of layer, as checkpoints; without a list of them 4.57 raises",
            {"layer_types": ["mamba", "attention"]},
        ),
    ),
    "jamba": (_NO_CUDA_KERNELS,),
    "laguna": (
        Change(
            "of each layer, a multiple of the heads of its keys",
            {"num_attention_heads_per_layer": [4, 4]},
        ),
    ),
    "hrm_text": (
        Change("layers of a stack, of which it makes all layers", {"num_layers_per_stack": None}),
    ),
    "lfm2_moe": (
        Change(
            "both kinds of layer; the class leaves their list open",
            {"layer_types": ["conv", "full_attention"]},
        ),
    ),
    "gpt_oss": (
        Change(
            "its hidden size of 2880 leaves rows that grouped matrix products refuse",
            {"hidden_size": 96},
        ),
    ),
    "muse_glimmer_assistant": (
        Change("as many tokens as its inputs have", {"block_size": _BLOCK}),
    ),
    "recurrent_gemma": (
        Change("the third layer is the first with attention", {"num_hidden_layers": 3}),
        Change(
            "more than half a text: of the mask it reads the first columns, as many as the window",
            {"attention_window_size": 12},
        ),
    ),
    "xlstm": (
        Change(
            "it rounds widths up to multiples of 64 in some places and not in others",
            {"hidden_size": 128, "embedding_dim": 128},
        ),
        Change("its chunkwise kernel fails for two chunks and more", {"chunk_size": 16}),
    ),
    "zamba": (
        _NO_CUDA_KERNELS,
        Change(
            "two layers with the attention that they share, as checkpoints have several",
            {
                "num_hidden_layers": 5,
                "layers_block_type": ["mamba", "mamba", "hybrid", "mamba", "hybrid"],
            },
        ),
    ),
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {
    "BltForCausalLM": {
        "cross_attention_states": _LEFT_FROM_MLLAMA,
        "cross_attention_mask": _LEFT_FROM_MLLAMA,
    },
}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {
    "CpmAntForCausalLM": {
        "attention_mask": "taken for the generation pipeline alone; ids of zero are the padding",
    },
    "granitemoehybrid": {"position_ids": "without rotary embeddings by default"},
    "jamba": {"position_ids": "attention without rotary embeddings; nothing reads them"},
    "rwkv": {"attention_mask": "its forward warns that it does not read it"},
    "zamba2": {"position_ids": "without rotary embeddings by default (use_mem_rope)"},
}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "muse_glimmer_assistant": {
        "noise_embeds": lambda forward: floats((_BLOCK, forward.config.hidden_size)),
        "context_hidden_states": _accepted_states,
        "attention_mask": lambda forward: Domain(
            Kind.MASK, (_ACCEPTED + _BLOCK,), shortest=_ACCEPTED + 1
        ),
        "position_ids": lambda forward: Domain(
            Kind.POSITIONS, (_ACCEPTED + _BLOCK,), mask="attention_mask"
        ),
    },
}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {
    "Speech2Text2ForCausalLM": (
        "its initialisation reads `weight` of an embedding that has only `weights`"
    ),
    "transfo-xl": (
        "its forward calls `type_as(dtype=…)`, which has no such argument "
        "(modeling_transfo_xl.py:940)"
    ),
}
