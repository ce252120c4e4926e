"""Exceptions of language models that read images or videos."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any, Final

import torch

from testing.inputs.domains import Domain, Kind
from testing.tiny.exceptions.change import Change
from testing.tiny.features import floats

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

_IS_4: Final = version("transformers").startswith("4.")

# Within the small vocabulary, at ids that no default has.
_IMAGE: Final = 400
_END_OF_LINE: Final = 401
_YES: Final = 402
_NO: Final = 403
_FIRST_CODE: Final = 300
_CODES: Final = 64

_ONE_TOKEN_FOR_BOTH: Final = (
    "images and videos have one placeholder, whose number must be that of either alone"
)
_OWN_DECODER: Final = "its language model is OPT, a decoder alone, which is given none"
_STATES_SIZES: Final = "it states sizes that the image and the text must agree with"
_GENERATES_ONLY: Final = "the class defines generate() of its parts and no forward"


def _sections(sections: list[int]) -> Change:
    """Sections of the rotary embedding, which the class leaves open and its layers read."""
    rope = {"rope_type": "default", "mrope_section": sections}
    return Change(
        "rotary sections that all checkpoints have and the class leaves open",
        defaults={"text_config": {"rope_scaling": rope}},
    )


def _letters(code: int) -> str:
    return "".join(chr(ord("A") + int(digit)) for digit in str(code))


_QWEN_SECTIONS: Final = _sections([16, 24, 24])
_GLM_SECTIONS: Final = _sections([8, 12, 12])
_FOUR_QUERIES: Final = Change(
    "the checkpoints' image token, which the class leaves open; four queries",
    {"num_query_tokens": 4},
    {"image_token_index": _IMAGE},
)
_FINER_PATCHES: Final = Change(
    "more than two patches a side, which an area of pixels can tell apart",
    {"vision_config": {"patch_size": 16}},
)
_FOUR_PLACES: Final = Change("as many places as a small image fills", {"mm_tokens_per_image": 4})
_TWO_CROSSING_LAYERS: Final = {
    "num_hidden_layers": 4,
    "cross_attention_layers": [1, 3],
}
_ROPE: Final = Change(
    "a rotary embedding, which the class leaves open and its layers read",
    {"text_config": _TWO_CROSSING_LAYERS},
    {"text_config": {"rope_scaling": {"rope_type": "default"}}},
)

_EMU3: Final = (
    Change(
        "a token for each code of the image tokenizer, which are fewer and from fewer layers",
        {
            "vq_config": {
                "codebook_size": _CODES,
                "base_channels": 32,
                "channel_multiplier": [1, 1, 1, 1],
                "num_res_blocks": 1,
                "hidden_size": 32,
            }
        },
        {
            "vocabulary_map": {
                "<image>": _IMAGE,
                "<|extra_200|>": _END_OF_LINE,
                **{f"<|visual token {i:06}|>": _FIRST_CODE + i for i in range(_CODES)},
            }
        },
    ),
)
_LLAMA4: Final = (
    Change(
        "widths of the adapter, which its defaults leave unlike four merged patches",
        {
            "vision_config": {
                "hidden_size": 32,
                "intermediate_size": 128,
                "projector_input_dim": 64,
                "projector_output_dim": 64,
                "vision_output_dim": 64,
            }
        },
    ),
)
_MLLAMA: Final = (
    _ROPE,
    Change(
        "the image's states have the widths of two inner layers beside its own",
        {
            "vision_config": {
                "hidden_size": 32,
                "intermediate_layers_indices": [0, 1],
                "vision_output_dim": 96,
            }
        },
    ),
)


def _block(channels: int, stride: int) -> dict[str, Any]:
    """An inverted bottleneck, as timm's builder of MobileNets takes it."""
    kernels = {f"dw_kernel_size_{place}": 3 * (stride > 1) for place in ("start", "mid")}
    return {
        "block_type": "uir",
        "out_chs": channels,
        "stride": stride,
        "exp_ratio": 2.0,
        "dw_kernel_size_end": 0,
        "act_layer": None,
        "noskip": False,
        **kernels,
    }


def _attention() -> dict[str, Any]:
    """A new one for each place, since the builder takes their kinds out."""
    return {
        "block_type": "mqa",
        "out_chs": 32,
        "stride": 1,
        "dw_kernel_size": 3,
        "num_heads": 2,
        "key_dim": 16,
        "value_dim": 16,
        "kv_stride": 1,
        "act_layer": None,
        "noskip": False,
    }


_MOBILENET: Final = {
    "block_args": [
        [_block(8, 2)],
        [_block(16, 2)],
        [_block(32, 2), _attention(), _block(32, 1)],
        [_block(32, 2), _attention(), _block(32, 1)],
    ],
    "stem_size": 8,
    "msfa_output_resolution": 2,
}
_QWEN3_VL: Final = (
    _sections([24, 20, 20]),
    Change(
        "heads whose rotary axes have an even number of places, the width of the text, and both "
        "layers' states for its first two",
        {
            "text_config": {"hidden_size": 64},
            "vision_config": {
                "hidden_size": 32,
                "num_heads": 2,
                "out_hidden_size": 64,
                "deepstack_visual_indexes": [0, 1],
            },
        },
    ),
)

_GEMMA_4: Final = Change(
    "parts for images and sound, which the class leaves out; fewer positions of patches",
    {"vision_config": {"position_embedding_size": 32}},
    {
        "vision_config": {"model_type": "gemma4_vision"},
        "audio_config": {"model_type": "gemma4_audio"},
    },
)
_SMALL_PATCHES: Final = Change("patches of 4 pixels", {"vision_config": {"patch_size": 4}})
_MINICPM: Final = (
    Change(
        "the checkpoints' image and video tokens, which the class leaves open",
        {"image_token_id": _IMAGE, "video_token_id": _END_OF_LINE},
    ),
    Change("the first of two layers, after which windows are merged", {"insert_layer_id": 0}),
)
_EVEN_AXES: Final = "heads whose rotary axes have an even number of places"
_MUSE: Final = Change(
    _EVEN_AXES,
    {"vision_config": {"hidden_size": 32, "num_attention_heads": 2}, "out_hidden_size": 128},
)
_THINKER_EDGES: Final = Change(
    "tokens before and after images, which checkpoints give beside the class's arguments",
    {"vision_start_token_id": _YES, "vision_end_token_id": _NO},
)
# Sizes of an encoder of frames, which timm makes; four patches a side.
_PE_FRAMES: Final = {
    "vision_config": {
        "model_args": {
            "img_size": 56,
            "embed_dim": 32,
            "depth": 2,
            "num_heads": 2,
            "attn_pool_num_heads": 2,
            "ref_feat_shape": [4, 4],
        }
    }
}
_BY_TIMM: Final = "sizes of its encoder of frames, which timm makes"
# Of transformers 5 alone.
_NEWER: Final[Mapping[str, tuple[Change, ...]]] = {
    "apertus1p5": (
        Change(
            "an id for each code of images and then of sounds, which are fewer; groups of "
            "channels divide their widths",
            {
                "vision_config": {
                    "codebook_size": _CODES,
                    "base_channels": 32,
                    "channel_multiplier": [1, 1, 1, 1, 1],
                    "num_res_blocks": 1,
                },
                "audio_config": {
                    "codebook_size": _CODES,
                    "decoder_hidden_size": 32,
                },
                "image_token_offset": _FIRST_CODE,
                "audio_token_offset": _FIRST_CODE + _CODES,
            },
        ),
    ),
    "fast_vlm": (
        Change(
            "a small FastViT of timm's; its width, which the class holds and does not declare",
            {
                "vision_config": {
                    "hidden_size": 64,
                    "model_args": {
                        "inference_mode": True,
                        "layers": (1, 1, 1, 1, 1),
                        "embed_dims": (8, 16, 16, 32, 32),
                    },
                }
            },
        ),
    ),
    "cohere_compass": (
        Change(
            "rotary embeddings by type of layer, which the class leaves open",
            defaults={
                "text_config": {
                    "rope_parameters": {
                        "full_attention": {"rope_type": "default", "rope_theta": 10000.0}
                    }
                }
            },
        ),
    ),
    "cosmos3_omni": _QWEN3_VL,
    "deepseek_ocr2": (
        Change(
            "kinds of its layers, which the class leaves open",
            defaults={"text_config": {"mlp_layer_types": ["dense", *["sparse"] * 31]}},
        ),
        Change(
            "its first part ends in the width of the second",
            {"vision_config": {"sam_config": {"downsample_channels": [32, 64]}}},
        ),
    ),
    "ernie4_5_vl_moe": (
        Change(
            "height and width have as many places of a head",
            {"text_config": {"rope_parameters": {"mrope_section": [4, 4, 2]}}},
        ),
    ),
    "exaone4_5": (
        Change(
            "windows of one merged patch before a layer without",
            {"vision_config": {"window_size": 28, "fullatt_block_indexes": [1]}},
        ),
    ),
    "embedding_gemma2": (_GEMMA_4,),
    "gemma4": (_GEMMA_4,),
    "gemma4_unified": (
        Change(
            "parts for images and sound, which the class leaves out; fewer positions",
            {"vision_config": {"mm_posemb_size": 32}},
            {
                "vision_config": {"model_type": "gemma4_unified_vision"},
                "audio_config": {"model_type": "gemma4_unified_audio"},
            },
        ),
    ),
    "granite4_vision": (
        Change(
            "layers whose features go into those of the text, which the class leaves open; it has "
            "a head for each 64 channels of images",
            {
                "vision_config": {"hidden_size": 128, "num_attention_heads": 2, "patch_size": 16},
                "downsample_rate": "1/2",
                "deepstack_layer_map": [[0, 0], [1, 1]],
                "spatial_target_layers": [0, 0, 1, 1],
            },
            {"downsample_rate": "1/2", "deepstack_layer_map": [[0, 0], [1, 1]]},
        ),
    ),
    "hyperclovax_vision_v2": (
        Change(
            "heads whose rotary axes have an even number of places, and windows of one merged "
            "patch before a layer without",
            {
                "vision_config": {
                    "hidden_size": 32,
                    "num_heads": 2,
                    "window_size": 28,
                    "fullatt_block_indexes": [1],
                }
            },
        ),
    ),
    "inkling2": (_SMALL_PATCHES,),
    "inkling2_loop": (_SMALL_PATCHES,),
    "kimi_k25": (
        Change(
            _EVEN_AXES,
            {
                "vision_config": {"hidden_size": 32, "num_attention_heads": 2},
                "projection_hidden_size": 32,
            },
        ),
    ),
    "dots3_note": (
        Change(
            "widths of the layers with a window, which stand in no argument",
            {
                "text_config": {
                    "swa_num_attention_heads": 2,
                    "swa_num_key_value_heads": 2,
                    "swa_q_lora_rank": 16,
                    "swa_kv_lora_rank": 16,
                    "swa_head_dim": 16,
                    "swa_qk_nope_head_dim": 8,
                    "swa_v_head_dim": 8,
                }
            },
        ),
    ),
    "nemotron_h_omni": (
        Change(
            "the part for sounds, which the class leaves out, and the checkpoints' tokens",
            {
                "image_token_id": _IMAGE,
                "audio_token_id": _END_OF_LINE,
                "audio_config": {"projection_hidden_size": 64, "projection_bias": False},
            },
            {"audio_config": {"attention_bias": False, "scale_input": False}},
        ),
    ),
    "inkling_mm_model": (
        Change("fewer values of each bin of a sound", {"audio_config": {"mel_vocab_size": 32}}),
        Change("patches of 20 pixels", {"vision_config": {"patch_size": 20}}),
    ),
    "minicpm_ocr": _MINICPM,
    "minicpmv4_6": _MINICPM,
    "minicpmv4_7": (
        *_MINICPM,
        Change(
            "tokens around images and their slices, which the class leaves open",
            {
                "image_start_id": _FIRST_CODE,
                "image_end_id": _FIRST_CODE + 1,
                "slice_start_id": _FIRST_CODE + 2,
                "slice_end_id": _FIRST_CODE + 3,
                "newline_id": _FIRST_CODE + 4,
            },
        ),
    ),
    "muse_glimmer": (_MUSE,),
    "muse_spark": (_MUSE,),
    "qwen3_omni_moe_thinker": (_THINKER_EDGES,),
    "pe_audio_video": (Change(_BY_TIMM, {"audio_video_config": {"video_config": _PE_FRAMES}}),),
    "pe_audio_video_encoder": (Change(_BY_TIMM, {"video_config": _PE_FRAMES}),),
    "pe_video": (Change(_BY_TIMM, {"video_config": _PE_FRAMES}),),
    "pi0": (
        Change(
            "shorter actions; both parts share keys, and their heads have one width",
            {
                "chunk_size": 8,
                "vlm_config": {"text_config": {"head_dim": 16}},
                "dit_config": {"head_dim": 16},
            },
        ),
    ),
    "paddleocr_vl": (
        Change(
            "rotary sections of half a head",
            {"text_config": {"rope_parameters": {"mrope_section": [2, 1, 1]}}},
        ),
    ),
    "mistral_large4": (
        Change(
            "each layer has keys and values of its own, as by default",
            {"text_config": {"kv_source_layers": None}},
        ),
    ),
    "modernvbert": (_FINER_PATCHES,),
    "ultravbert": (_FINER_PATCHES,),
    "glm_image": (Change("fewer codes of images", {"vq_config": {"num_embeddings": _CODES}}),),
    "neomme": (Change("patches of 8 pixels", {"patch_size": 8}),),
    "qwen2_5_omni_thinker": (
        Change(
            "windows of one merged patch before a layer without",
            {"vision_config": {"window_size": 28, "fullatt_block_indexes": [1]}},
        ),
        Change(
            "a token that its checkpoints have and its class lacks",
            {"vision_start_token_id": _END_OF_LINE + 1},
        ),
    ),
    "qwen4_exp": (
        Change(
            "an indexer, which the class leaves open and its layers read",
            {
                "text_config": {
                    "indexer_n_heads": 2,
                    "indexer_kv_heads": 1,
                    "indexer_head_dim": 32,
                    "indexer_budget": 8,
                    "indexer_compress_ratio": 2,
                }
            },
        ),
    ),
    "videoprism": (
        Change(
            "it calls its depths otherwise",
            {"vision_config": {"num_spatial_layers": 2, "num_temporal_layers": 2}},
        ),
    ),
    "step3p7": (
        Change(
            "a window, which the class leaves open and its layers read",
            {"text_config": {"sliding_window": 8}},
        ),
    ),
    "t5gemma2": (
        Change("as many places as a small image fills", {"encoder": {"mm_tokens_per_image": 4}}),
    ),
    "t5gemma2_encoder": (
        _FOUR_PLACES,
        Change(
            "a rate that the configuration of encoder and decoder gives it",
            {"text_config": {"dropout_rate": 0.0}},
        ),
    ),
    "molmo2": (
        Change(
            "states of two layers, of as many as there are; an id of the small vocabulary",
            {
                "adapter_config": {"vision_feature_layer": [1, 0], "text_hidden_size": 64},
                "image_patch_id": _IMAGE,
                "text_config": {"hidden_size": 64},
                "vision_config": {"num_position_embeddings": None},
            },
        ),
    ),
    "glm5_next": (
        Change(
            "pools of keys of which a choice is a whole number",
            {"text_config": {"index_kpool": 2}},
        ),
    ),
}
CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    **_NEWER,
    "Blip2ForImageTextRetrieval": (
        Change(
            "the class reads text with its querying transformer, as its checkpoints say",
            {"qformer_config": {"use_qformer_text_input": True}},
        ),
    ),
    "Emu3ForConditionalGeneration": _EMU3,
    "Emu3Model": _EMU3,
    "Emu3TextModel": (
        Change("the class declares the whole and reads the text's", part="text_config"),
    ),
    "Llama4ForConditionalGeneration": _LLAMA4,
    "Llama4VisionModel": (
        Change(
            "widths of its adapter, which its defaults leave unlike four merged patches",
            {
                "hidden_size": 32,
                "intermediate_size": 128,
                "projector_input_dim": 64,
                "projector_output_dim": 64,
                "vision_output_dim": 64,
            },
        ),
    ),
    "MllamaForCausalLM": (
        Change("two of four layers attend to images", _TWO_CROSSING_LAYERS),
        Change("as in mllama", defaults={"rope_scaling": {"rope_type": "default"}}),
    ),
    "MllamaForConditionalGeneration": _MLLAMA,
    "MllamaModel": _MLLAMA,
    "MllamaTextModel": (
        Change("two of four layers attend to images", _TWO_CROSSING_LAYERS),
        Change("as in mllama", defaults={"rope_scaling": {"rope_type": "default"}}),
    ),
    "MllamaVisionModel": (
        Change(
            "its output has the widths of two inner layers beside its own",
            {"hidden_size": 32, "intermediate_layers_indices": [0, 1], "vision_output_dim": 96},
        ),
    ),
    "Qwen2_5OmniThinkerForConditionalGeneration": (_THINKER_EDGES,),
    "Qwen2_5OmniThinkerModel": (_THINKER_EDGES,),
    "aria": (
        _FINER_PATCHES,
        Change("how many queries 16 patches have", {"projector_patch_to_query_dict": {16: 8}}),
    ),
    "aya_vision": (
        Change(
            "a width that the heads divide, unlike the default's",
            {"vision_config": {"hidden_size": 32, "num_attention_heads": 2}},
        ),
    ),
    "blip-2": (_FOUR_QUERIES,),
    "chameleon": (
        Change(
            "a token for each code of the image tokenizer, which are fewer and from fewer layers",
            {
                "vq_config": {
                    "num_embeddings": _CODES,
                    "base_channels": 32,
                    "channel_multiplier": [1, 1, 2, 2],
                    "num_res_blocks": 1,
                    "resolution": 32,
                }
            },
            {
                "vocabulary_map": {
                    "<image>": _IMAGE,
                    **{f"IMGIMG{_letters(i)}Z": _FIRST_CODE + i for i in range(_CODES)},
                }
            },
        ),
    ),
    "deepseek_vl_hybrid": (
        Change(
            "which of the two layers attends to all of the image",
            {"high_res_vision_config": {"global_attn_indexes": [1]}},
        ),
    ),
    "gemma3": (_FOUR_PLACES,),
    "gemma3n": (
        Change(
            "two layers of each kind, of which the last two share keys and values; ids of images "
            "and of sounds after those of text",
            {
                "image_token_id": 513,
                "audio_token_id": 641,
                "audio_config": {"vocab_offset": 640},
                "text_config": {
                    "vocab_size": 768,
                    "num_hidden_layers": 4,
                    "num_kv_shared_layers": 2,
                    "layer_types": ["sliding_attention", "full_attention"] * 2,
                    "activation_sparsity_pattern": [0.95, 0.95, 0.0, 0.0],
                    "intermediate_size": 64,
                },
                "audio_soft_tokens_per_image": 8,
            },
        ),
        Change(
            "a MobileNet of four small stages, from 64 pixels a side to two; its width is timm's",
            {
                "vision_config": {
                    "hidden_size": 2048,
                    "vocab_offset": 512,
                    "model_args": _MOBILENET,
                },
                "vision_soft_tokens_per_image": 4,
            },
        ),
    ),
    "glm4v": (_GLM_SECTIONS,),
    "glm4v_moe": (_GLM_SECTIONS,),
    "idefics3": (_FINER_PATCHES,),
    "instructblip": (_FOUR_QUERIES,),
    "instructblipvideo": (
        Change("as in InstructBLIP", {"num_query_tokens": 4}, {"video_token_index": _IMAGE}),
    ),
    "janus": (
        Change(
            "32 groups of channels divide these",
            {
                "vq_config": {
                    "base_channels": 32,
                    "channel_multiplier": [1, 1, 2],
                    "latent_channels": 32,
                    "num_res_blocks": 1,
                    "num_embeddings": _CODES,
                }
            },
        ),
        Change(
            "the width of the text, to which the default's images do not come",
            {"text_config": {"hidden_size": 64}, "vision_config": {"projection_dim": 64}},
        ),
    ),
    "kosmos-2": (Change("fewer places of an image", {"latent_query_num": 8}),),
    "kosmos-2.5": (Change("fewer places of an image", {"latent_query_num": 8}),),
    "ovis2": (Change("the width of the text", {"hidden_size": 64}),),
    "perception_lm": (
        Change(
            "a small Perception Encoder of timm's, which the class leaves open",
            {
                "vision_config": {
                    "architecture": "vit_pe_lang_large_patch14_448",
                    "model_args": {
                        "embed_dim": 32,
                        "depth": 2,
                        "num_heads": 2,
                        "img_size": [64, 64],
                        "patch_size": 16,
                        "ref_feat_shape": [4, 4],
                        "global_pool": "",
                    },
                }
            },
        ),
    ),
    "phi4_multimodal": (
        Change(
            "the parts for images and sound, which the class leaves out",
            defaults={"vision_config": {}, "audio_config": {}},
        ),
        Change(
            "channels of the sound's convolutions, as wide as its states",
            {
                "audio_config": {
                    "ext_pw_out_channel": 32,
                    "depthwise_separable_out_channel": 32,
                    "nemo_conv_channels": 32,
                }
            },
        ),
    ),
    "qwen2_5_vl": (
        _QWEN_SECTIONS,
        Change(
            "heads whose rotary axes have an even number of places, windows of one merged patch "
            "before a layer without, and the width of the text",
            {
                "text_config": {"hidden_size": 64},
                "vision_config": {
                    "hidden_size": 32,
                    "num_heads": 2,
                    "out_hidden_size": 64,
                    "window_size": 28,
                    "fullatt_block_indexes": [1],
                },
            },
        ),
    ),
    "qwen2_vl": (
        _QWEN_SECTIONS,
        Change(
            "heads whose rotary axes have an even number of places, and the width of the text",
            {
                "text_config": {"hidden_size": 64},
                "vision_config": {"embed_dim": 32, "num_heads": 2, "hidden_size": 64},
            },
        ),
    ),
    "qwen3_vl": _QWEN3_VL,
    "qwen3_vl_moe": _QWEN3_VL,
    "shieldgemma2": (
        _FOUR_PLACES,
        Change(
            "tokens within the small vocabulary, which the class takes without naming them",
            {"yes_token_index": _YES, "no_token_index": _NO},
        ),
    ),
    "smolvlm": (_FINER_PATCHES,),
    "vipllava": (
        Change(
            "states of three layers, of as many as there are",
            {"vision_feature_layers": [-2, -1, 1]},
        ),
    ),
}

_NO_VIDEOS: Final = {
    "pixel_values_videos": _ONE_TOKEN_FOR_BOTH,
    "video_grid_thw": _ONE_TOKEN_FOR_BOTH,
}

_NO_DECODER: Final = {
    "decoder_input_ids": _OWN_DECODER,
    "decoder_attention_mask": _OWN_DECODER,
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {
    "blip-2": _NO_DECODER,
    "glm46v": _NO_VIDEOS,
    "glm4v": _NO_VIDEOS,
    "glm4v_moe": _NO_VIDEOS,
    "glm5_next": _NO_VIDEOS,
    "glm_ocr": _NO_VIDEOS,
    "instructblip": _NO_DECODER,
    "instructblipvideo": _NO_DECODER,
    "nemotron_h_omni": {"pixel_values_videos": _ONE_TOKEN_FOR_BOTH},
    "pi0": {"actions": "what it is trained to predict"},
    "molmo2": {"pixel_values_videos": "beside images it raises (modeling_molmo2.py:814)"},
}

_ONLY_BOTH_WAYS: Final = {
    "mm_token_type_ids": "read where images are attended to both ways, which is not the default"
}
_NOT_PASSED_ON: Final = "its forward takes it and does not pass it on"

_NOT_READ_BY_SIGLIP: Final = {
    "pixel_attention_mask": "the SigLIP tower takes it among other arguments and reads none of it"
}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {
    "modernvbert": _NOT_READ_BY_SIGLIP,
    "ultravbert": _NOT_READ_BY_SIGLIP,
    "Emu3ForConditionalGeneration": (
        {"pixel_values": "its forward does not pass it on (modeling_emu3.py:1569)"}
        if _IS_4
        else {}
    ),
    "gemma4": _ONLY_BOTH_WAYS,
    "Glm5NextForConditionalGeneration": {"mm_token_type_ids": _NOT_PASSED_ON},
}


def _marked_images(forward: Any) -> Domain:
    """The processor says of each token whether an image stands there."""
    marks = ((forward.config.image_token_id, 1),)
    return Domain(Kind.MARKS, (), marked="input_ids", marks=marks)


def _fuyu_patches(forward: Any) -> Domain | None:
    """Flattened patches, which transformers 4 calls otherwise."""
    pixels = forward.config.num_channels * forward.config.patch_size**2
    return floats((12, pixels)) if "pixel_values" in forward.parameters else None


def _patches_with_places(forward: Any) -> Domain:
    """Pixels of 16 patches, after the row and the column of each, which count from one."""
    pixels = forward.config.vision_config.patch_embed_hidden_size
    return Domain(Kind.FLOAT, (16, 2 + pixels), dtype=torch.float32, low=1, high=5)


def _sizes(size: list[int]) -> Domain:
    return Domain(Kind.FIXED, (2,), value=torch.tensor([size]), reason=_STATES_SIZES)


def _crop(forward: Any) -> list[int]:
    return [forward.config.vision_config.crop_size] * 2


def _areas_of_crops(forward: Any) -> Domain:
    """Patches of the whole image and of two crops, all of them seen."""
    side = _crop(forward)[0] // forward.config.vision_config.patch_size
    seen = torch.ones(1, 3, side, side, dtype=torch.bool)
    return Domain(Kind.FIXED, (3, side, side), torch.bool, value=seen, reason=_STATES_SIZES)


_SMALLER_IMAGES: Final = {
    "image_sizes": lambda _: _sizes([32, 32]),
    "pixel_values": lambda _: floats((3, 32, 32)),
}


def _steady(value: torch.Tensor, rows: int = 1) -> Any:
    """The rule of an input that has one value for every sample."""
    return lambda _: Domain(
        Kind.FIXED,
        tuple(value.shape),
        dtype=value.dtype,
        rows=rows,
        value=value.unsqueeze(0),
        reason=_STATES_SIZES,
    )


def _places(side: int) -> torch.Tensor:
    """Column and row of each patch of a square."""
    places = torch.arange(side)
    return torch.stack((places.repeat(side), places.repeat_interleave(side)), -1)


def _pixels(shape: tuple[int, ...], rows: int = 1) -> Domain:
    """Pixels between 0 and 1."""
    return Domain(Kind.FLOAT, shape, dtype=torch.float32, rows=rows, high=1)


def _rows_of_patches(shape: tuple[int, ...], rows: int = 4) -> Domain:
    """Patches of all images, one to a row."""
    return Domain(Kind.FLOAT, shape, dtype=torch.float32, rows=rows, low=-6, high=6)


_GEMMA_SIDE: Final = 6
_FRAMES: Final = 2


def _gemma_4(patches: int, width: Any, sound: Any) -> dict[str, Any]:
    """Patches with their places, and a sound, all of it real."""
    side = int(patches**0.5)
    return {
        "pixel_values": lambda forward: _pixels((patches, width(forward))),
        "image_position_ids": _steady(_places(side)),
        "pixel_values_videos": lambda forward: _pixels((patches, width(forward)), _FRAMES),
        "video_position_ids": _steady(_places(side), _FRAMES),
        "num_frames_per_video": _steady(torch.tensor(_FRAMES)),
        "input_features": lambda forward: floats((16, sound(forward))),
        "input_features_mask": _steady(torch.ones(16, dtype=torch.bool)),
    }


_GEMMA_4_INPUTS: Final = _gemma_4(
    _GEMMA_SIDE**2,
    lambda forward: 3 * forward.config.vision_config.patch_size**2,
    lambda forward: forward.config.audio_config.subsampling_conv_channels[0],
)
_INKLING_2: Final = {
    "pixel_values": lambda forward: Domain(
        Kind.FLOAT, (8, 8, 3), dtype=torch.float32, rows=16, low=-1, high=1
    )
}
_GRID_OF_MINICPM: Final = (4, 8)


def _packed_patches(forward: Any) -> Domain:
    """Patches of all images side by side, as high as one of them."""
    patch = forward.vision_config.patch_size
    shape = (3, patch, math.prod(_GRID_OF_MINICPM) * patch)
    return replace(floats(shape), abreast=True)


_PACKED: Final = {
    "pixel_values": _packed_patches,
    "target_sizes": _steady(torch.tensor(_GRID_OF_MINICPM)),
    "pixel_values_videos": _packed_patches,
    "target_sizes_videos": _steady(torch.tensor(_GRID_OF_MINICPM)),
}

_PE_VIDEO: Final = {
    "pixel_values_videos": lambda _: floats((4, 3, 56, 56)),
    "padding_mask_videos": lambda _: Domain(Kind.MASK, (4,)),
}
_PE_SOUND: Final = {
    "input_values": lambda _: floats((1, 4 * 1920), shortest=2 * 1920),
    "padding_mask": lambda _: Domain(Kind.MASK, (4 * 1920,), shortest=2 * 1920),
}

_DOTS_FRAMES: Final = 64
# Eight tokens.
_SAMPLES: Final = 4800


def _sound_of_muse(forward: Any) -> int:
    """Samples of four tokens."""
    return 4 * int(forward.config.audio_config.samples_per_token)


_MOLMO_SIDE: Final = 4
_MOLMO_CROPS: Final = 2
_MOST_SAMPLES: Final = 8


def _molmo_pools(forward: Any) -> Domain:
    """Of the patches of all images in a row, the two by two that each token stands for."""
    places = torch.arange(_MOLMO_SIDE**2).view(2, 2, 2, 2).transpose(1, 2).reshape(4, 4)
    starts = _MOLMO_SIDE**2 * torch.arange(_MOLMO_CROPS * _MOST_SAMPLES)
    pools = (places + starts.view(-1, 1, 1)).flatten(0, 1)
    rows = len(pools) // _MOST_SAMPLES
    return Domain(Kind.FIXED, (4,), rows=rows, value=pools, reason=_STATES_SIZES)


_MOLMO: Final = {
    "pixel_values": lambda forward: _rows_of_patches(
        (_MOLMO_SIDE**2, 3 * forward.vision_config.patch_size**2), _MOLMO_CROPS
    ),
    "image_token_pooling": _molmo_pools,
    # The grid of the whole image, then that of its crops.
    "image_grids": _steady(torch.tensor([2, 2, 2, 2])),
}

_DOTS_SOUND: Final[Mapping[str, Any]] = {
    "input_features": lambda forward: floats(
        (forward.config.audio_config.feature_size, _DOTS_FRAMES)
    ),
    "chunk_sample_lengths": lambda forward: _steady(
        torch.tensor(_DOTS_FRAMES * forward.config.audio_config.hop_length)
    )(forward),
}
"""What the classes of Dots that hear are given; the text-only one has no sound."""

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Emu3ForConditionalGeneration": _SMALLER_IMAGES,
    "Emu3Model": _SMALLER_IMAGES,
    "embedding_gemma2": _GEMMA_4_INPUTS,
    "gemma4": _GEMMA_4_INPUTS,
    "gemma4_unified": _gemma_4(
        4,
        lambda forward: 3 * forward.config.vision_config.model_patch_size**2,
        lambda forward: forward.config.audio_config.audio_embed_dim,
    ),
    "granite_docling": {"pixel_attention_mask": _steady(torch.ones(1, dtype=torch.bool))},
    "inkling2": _INKLING_2,
    "inkling2_loop": _INKLING_2,
    "inkling_mm_model": {
        "pixel_values": lambda forward: Domain(
            Kind.FLOAT,
            (2, *[forward.vision_config.patch_size] * 2, 3),
            dtype=torch.float32,
            rows=4,
            low=-6,
            high=6,
        ),
        "audio_input_ids": lambda forward: Domain(
            Kind.INDEX,
            (4, forward.config.audio_config.n_mel_bins),
            high=forward.config.audio_config.mel_vocab_size,
        ),
    },
    "kimi_k25": {
        "pixel_values": lambda forward: _rows_of_patches(
            (3, *[forward.vision_config.patch_size] * 2), 16
        ),
        "pixel_values_videos": lambda forward: _rows_of_patches(
            (3, *[forward.vision_config.patch_size] * 2), 16 * _FRAMES
        ),
    },
    # Its convolutions are over bins and frames, unlike Whisper's.
    "qwen3_omni_moe_thinker": {
        "input_features": lambda forward: floats((forward.config.audio_config.num_mel_bins, 64))
    },
    "minicpm_ocr": _PACKED,
    "molmo2": _MOLMO,
    "muse_spark": {
        "input_values": lambda forward: floats((_sound_of_muse(forward),)),
        "input_values_mask": lambda forward: _steady(
            torch.ones(_sound_of_muse(forward), dtype=torch.int64)
        )(forward),
    },
    "apertus1p5": {
        "input_values": lambda _: floats((_SAMPLES,)),
        "padding_mask": _steady(torch.ones(_SAMPLES, dtype=torch.int64)),
    },
    "Dots3NoteForConditionalGeneration": _DOTS_SOUND,
    "Dots3NoteModel": _DOTS_SOUND,
    # A 64th of each side remains.
    "fast_vlm": {"pixel_values": lambda _: floats((3, 128, 128))},
    "PI0ForConditionalGeneration": {
        "state": lambda forward: floats((forward.config.max_state_dim,)),
        "noise": lambda forward: floats(
            (forward.config.chunk_size, forward.config.max_action_dim)
        ),
        "timestep": lambda _: _pixels(()),
    },
    "PI0Model": {
        "action_embeds": lambda forward: floats(
            (1 + forward.config.chunk_size, forward.config.dit_config.hidden_size)
        )
    },
    "glm_image": {
        # Of the image that it sees, and of the one that it makes.
        "image_grid_thw": lambda _: Domain(
            Kind.FIXED, (3,), rows=2, value=torch.tensor([[1, 2, 2]]), reason=_STATES_SIZES
        ),
        "images_per_sample": _steady(torch.tensor(2)),
    },
    "pe_audio_video": {**_PE_SOUND, **_PE_VIDEO},
    "pe_audio_video_encoder": {**_PE_SOUND, **_PE_VIDEO},
    "pe_video": _PE_VIDEO,
    "pi0": {
        "pixel_values": lambda forward: floats(
            (2, 3, *[forward.config.vlm_config.vision_config.image_size] * 2)
        ),
        "pixel_attention_mask": _steady(torch.ones(2, dtype=torch.bool)),
    },
    "neomme": {"pixel_values": lambda forward: _rows_of_patches((forward.config.patch_dim,))},
    "nemotron_h_omni": {
        "pixel_values": lambda forward: _rows_of_patches(
            (3 * forward.vision_config.patch_size**2,), 16
        ),
        "image_grid_hw": _steady(torch.tensor([4, 4])),
    },
    "paddleocr_vl": {
        "pixel_values": lambda forward: _rows_of_patches(
            (3, *[forward.vision_config.patch_size] * 2), 16
        )
    },
    "video_llama_3": {
        "image_merge_sizes": _steady(torch.tensor(2)),
        "video_merge_sizes": _steady(torch.tensor(2)),
    },
    "minicpmv4_6": _PACKED,
    "minicpmv4_7": _PACKED,
    # The tokenizers of images keep an eighth of each side.
    "chameleon": {"pixel_values": lambda _: floats((3, 32, 32))},
    "fuyu": {"pixel_values": _fuyu_patches},
    "gemma3": {"token_type_ids": _marked_images},
    "gemma3n": {
        "input_features": lambda forward: floats(
            (64, forward.config.audio_config.input_feat_size), mask="input_features_mask"
        ),
        # The audio tower fills by its inverse, which of integers is none.
        "input_features_mask": lambda _: Domain(Kind.MASK, (64,), torch.bool),
    },
    "instructblipvideo": {"pixel_values": lambda _: floats((4, 3, 64, 64))},
    "kosmos-2.5": {"flattened_patches": _patches_with_places},
    "perception_lm": {"pixel_values": lambda _: floats((2, 3, 64, 64))},
    "phi4_multimodal": {
        # Eight frames become one; every sample has a place for the four that are real in all.
        "audio_attention_mask": lambda _: Domain(Kind.MASK, (64,), torch.bool, shortest=32),
        "audio_embed_sizes": lambda _: Domain(
            Kind.FIXED, (), value=torch.tensor([4]), reason=_STATES_SIZES
        ),
        "audio_input_features": lambda forward: floats(
            (64, forward.config.audio_config.input_size)
        ),
        "image_attention_mask": _areas_of_crops,
        "image_pixel_values": lambda forward: floats((3, 3, *_crop(forward))),
        "image_sizes": lambda forward: _sizes([_crop(forward)[0], 2 * _crop(forward)[1]]),
    },
    "shieldgemma2": {"token_type_ids": _marked_images},
}

LARGE: Final[Mapping[str, str]] = {}

# Of transformers 5.24 alone.
_FAULTS: Final = {
    "Llama4ForConditionalGeneration": (
        "its forward reads image_outputs of its text model's outputs, which have none, and with "
        "return_dict=False the text model fails itself (modeling_llama4.py:1318)"
    ),
}

IMPOSSIBLE: Final[Mapping[str, str]] = {
    "Qwen2_5OmniForConditionalGeneration": _GENERATES_ONLY,
    "Qwen3OmniMoeForConditionalGeneration": _GENERATES_ONLY,
    **({} if _IS_4 else _FAULTS),
}
