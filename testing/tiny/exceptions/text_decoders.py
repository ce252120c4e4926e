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

_CONVOLUTION_AND_ATTENTION: Final = Change(
    "both kinds of layer, as checkpoints; the classes list one kind or none",
    {"layer_types": ["conv", "full_attention"]},
)
_GLOBAL_HEADS: Final = Change(
    "heads of full attention are wider; the class puts their width into each layer's settings",
    {"global_head_dim": 32},
)
_GLOBAL_HEADS_OF_ITS_TEXT: Final = Change(
    _GLOBAL_HEADS.why, {"text_config": dict(_GLOBAL_HEADS.config)}
)
_SCALED_BY_LENGTH: Final = {"log_scaling_n_floor": 8}
_NO_ROTATION: Final = "attention without embeddings of positions; the other layers have an order"
_LEFT_FROM_MLLAMA: Final = "of images, left from Mllama; it takes none and nothing reads them"
# Tokens that a drafting model proposes at once, and those accepted before.
_BLOCK: Final = 8
_ACCEPTED: Final = 8


def _accepted_states(forward: Any) -> Domain:
    layers = len(forward.config.target_layer_ids)
    return floats((_ACCEPTED, layers * forward.config.hidden_size))


def _shared_states(layer_type: str) -> dict[str, Any]:
    """Keys and values of the model that it drafts for, as the last layer of a type has them."""

    def states(forward: Any) -> Domain:
        text = forward.config.get_text_config()
        layer = text.per_layer_config[text.layer_types.index(layer_type)]
        return floats((layer.num_key_value_heads, _ACCEPTED, layer.head_dim))

    return {f"shared_kv_states.{layer_type}.{index}": states for index in range(2)}


# A token that is drafted for a model of Gemma 4 sees that model's keys and values.
_DRAFTED: Final[Mapping[str, Any]] = {
    "inputs_embeds": lambda forward: floats((1, 2 * forward.config.backbone_hidden_size)),
    "position_ids": lambda forward: Domain(Kind.INDEX, (1,), low=_ACCEPTED, high=2 * _ACCEPTED),
    "attention_mask": lambda forward: Domain(Kind.MASK, (_ACCEPTED,)),
    **_shared_states("full_attention"),
    **_shared_states("sliding_attention"),
}
_NO_IDS: Final = {"input_ids": "its forward ignores them and reads embeddings"}

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "gemma4_assistant": (
        Change(
            "it takes no inputs of single layers and refuses a text model that does",
            defaults={
                "text_config": {"hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0}
            },
        ),
        _GLOBAL_HEADS_OF_ITS_TEXT,
    ),
    "gemma4_text": (_GLOBAL_HEADS,),
    "gemma4_unified_assistant": (_GLOBAL_HEADS_OF_ITS_TEXT,),
    "gemma4_unified_text": (_GLOBAL_HEADS,),
    "bamba": (
        Change(
            "an attention layer beside a mamba one, as checkpoints", {"attn_layer_indices": [1]}
        ),
    ),
    "blt": (
        Change(
            "5.24 makes its cache for as many layers; only its parts have a count of layers",
            {"num_hidden_layers": 2},
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
    "inkling2_loop_text": (
        Change(
            "layers before, within and after the loop, and blocks of one layer",
            {
                "num_hidden_layers": 3,
                "layer_types": ["hybrid_sliding", "hybrid", "hybrid_sliding"],
                "loop_layer_index_start": 1,
                "loop_layer_index_end": 2,
                "n_layers_per_attn_res_block": 1,
                **_SCALED_BY_LENGTH,
            },
        ),
    ),
    "inkling2_text": (
        Change(
            "blocks of one layer, and positions from which attention is scaled",
            {"n_layers_per_attn_res_block": 1, **_SCALED_BY_LENGTH},
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
    "lfm2": (_CONVOLUTION_AND_ATTENTION,),
    "lfm2_moe": (_CONVOLUTION_AND_ATTENTION,),
    "minimax": (Change("blocks of linear attention shorter than a text", {"block_size": 8}),),
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
        Change(
            "its default: in 4.57 the kernel of whole chunks calls a tensor as a function "
            "(modeling_xlstm.py:230), and a shorter text goes step by step",
            {"chunk_size": 64},
        ),
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
    "gemma4_assistant": _NO_IDS,
    "gemma4_unified_assistant": _NO_IDS,
}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {
    "CpmAntForCausalLM": {
        "attention_mask": "taken for the generation pipeline alone; ids of zero are the padding",
    },
    "granitemoehybrid": {"position_ids": "without rotary embeddings by default"},
    "inkling_text": {
        "position_ids": "positions are relative and lengths scale nothing by default"
    },
    "jamba": {"position_ids": _NO_ROTATION},
    "kimi_linear": {"position_ids": _NO_ROTATION},
    "nemotron_h": {"position_ids": _NO_ROTATION},
    "rwkv": {"attention_mask": "its forward warns that it does not read it"},
    "zamba": {"position_ids": _NO_ROTATION},
    "zamba2": {"position_ids": "without rotary embeddings by default (use_mem_rope)"},
}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "gemma4_assistant": _DRAFTED,
    "gemma4_unified_assistant": _DRAFTED,
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
        "the weights of its positions are made by make_weights alone, which nothing calls before"
        " the forward reads them (modeling_speech_to_text_2.py:88)"
    ),
    "transfo-xl": (
        "its forward calls `type_as(dtype=…)`, which has no such argument "
        "(modeling_transfo_xl.py:940)"
    ),
}
