"""Exceptions of models of images and videos."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import torch

from testing.inputs.domains import Domain, Kind
from testing.tiny.exceptions.change import Change
from testing.tiny.features import floats

__all__ = [
    "CHANGES",
    "IMPOSSIBLE",
    "INFINITE",
    "INPUTS",
    "LARGE",
    "OMITTED",
    "UNINITIALISED",
    "UNUSED",
]

_FOUR_STAGES: Final = Change(
    "the segmentation head takes four stages",
    {"num_hidden_layers": 4, "out_indices": [1, 2, 3, 4], "out_features": None},
)
_SWIN_WINDOW: Final = Change(
    "no stage may be smaller than a window: four stages leave 2 of 16 patches a side",
    {"window_size": 2},
)
_FEWER_GROUPS: Final = Change("a group norm divides its channels", {"num_groups": 2})
_GROUPS_OF_CHANNELS: Final = "a group norm of 32 groups divides its channels"
_HIERA_DET: Final[Mapping[str, Any]] = {
    "image_size": [64, 64],
    "hidden_size": 16,
    # Each wider than the last: a block pools where its width changes.
    "embed_dim_per_stage": [16, 32, 48, 64],
    "num_attention_heads_per_stage": [1, 2, 3, 4],
    "blocks_per_stage": [1, 1, 2, 1],
    "window_size_per_stage": [4, 4, 4, 4],
    "global_attention_blocks": [3],
}
_SAM2_VISION: Final[Mapping[str, Any]] = {
    "backbone_config": _HIERA_DET,
    "backbone_channel_list": [64, 48, 32, 16],
    "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
    "fpn_hidden_size": 64,
}
_REPVIT: Final[Mapping[str, Any]] = {
    "model_type": "timm_wrapper",
    "architecture": "repvit_m1",
    # Without it the class counts labels with None.
    "num_classes": 2,
    "model_args": {
        "in_chans": 3,
        "features_only": True,
        "out_indices": [0, 1, 2, 3],
        "embed_dim": [8, 16, 32, 64],
        "depth": [1, 1, 1, 1],
    },
}
_EDGETAM_VISION: Final[Mapping[str, Any]] = {
    "backbone_config": _REPVIT,
    "backbone_channel_list": [64, 32, 16, 8],
    "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
    "fpn_hidden_size": 64,
}
_CLASS_TOKENS: Final[Mapping[str, Any]] = {"return_class_token": True}
_SMALL_OCR: Final[Mapping[str, Any]] = {
    "head_out_channels": 64,
    "backbone_config": {"scale": 0.25},
}


# The rows of its stages: kernel, channels in and out, stride, and whether channels are weighed.
def _lcnet_v4(stride: int | list[int]) -> Mapping[str, Any]:
    """A table of stages an eighth as wide; `stride` is that of the later ones."""
    return {
        "stem_channels": [3, 8, 16],
        "block_configs": [
            [[3, 16, 16, 1, True]],
            [[3, 16, 16, stride if isinstance(stride, int) else 1, False]],
            [[3, 16, 32, stride, False], [3, 32, 32, 1, True]],
            [[3, 32, 64, stride, False], [3, 64, 64, 1, True]],
        ],
    }


def _maps_of_lcnet_v4(**sizes: Any) -> Change:
    """Of a detector, which doubles each map's size to that of the one before."""
    backbone = {**_lcnet_v4(2), "out_indices": [1, 2, 3, 4], "out_features": None}
    return Change(_MAPS_OF_LCNET, {"backbone_config": backbone, **sizes})


_MAPS_OF_LCNET: Final = "its backbone's widths are a table, and it reads four maps"
_LCNET_V4: Final = Change("its widths are a table", _lcnet_v4([2, 1]))
_LCNET_V4_READER: Final = Change(
    "its backbone's widths are a table; its vocabulary",
    {"head_out_channels": 64, "backbone_config": _LCNET_V4.config},
)
_RATIOS: Final = (("long", 7), ("mid", 5), ("short", 3))
# Kernel, stride and padding, as checkpoints have them; the classes leave them open.
_LONG_KERNELS: Final[Mapping[str, Any]] = {
    "reduce_channel": [1, 1, 0],
    "return_channel": [1, 1, 0],
    **{
        f"vertical_long_to_small_conv_{ratio}ratio": [[size, 1], [1, 1], [size // 2, 0]]
        for ratio, size in _RATIOS
    },
    **{
        f"horizontal_small_to_long_conv_{ratio}ratio": [[1, size], [1, 1], [0, size // 2]]
        for ratio, size in _RATIOS
    },
    **{
        f"symmetric_conv_long_{ratio}ratio": [[size, size], [1, 1], [size // 2] * 2]
        for ratio, size in _RATIOS
    },
}
_LONG_KERNELED: Final[Mapping[str, Any]] = {
    "neck_out_channels": 64,
    "scale_factor_list": [1, 2, 4, 8],
    "kernel_list": [3, 2, 2],
    "intraclass_block_config": _LONG_KERNELS,
}
_UVDOC_BACKBONE: Final[Mapping[str, Any]] = {
    "resnet_head": [[3, 8], [8, 8]],
    "resnet_configs": [
        [[8, 8, 1, False], [8, 8, 3, False]],
        [[8, 16, 1, True], [16, 16, 3, False]],
        [[16, 32, 1, True], [32, 32, 3, False]],
    ],
    "stage_configs": [
        [[32, 1]],
        [[32, 2]],
        [[32, 5]],
        [[32, 8], [32, 3], [32, 2]],
        [[32, 12], [32, 7], [32, 4]],
        [[32, 18], [32, 12], [32, 6]],
    ],
}
_UVDOC: Final = "its widths are tables of convolutions within stages"
_WINDOW_OF_PATCHES: Final = Change("a window is of whole merged patches", {"window_size": 112})
_QUARTER: Final = Change("its widths are a table scaled by this number", {"scale": 0.25})
_SAM2_SIZES: Final = "widths by stage and sizes of maps are listed, and a block has its own index"
_SAM_POINTS: Final = 2
_OMDET_CLASSES: Final = 2
_OMDET_TEXT: Final = 8
_PATCHES: Final = 16


def _points(shape: tuple[int, ...]) -> Any:
    """Coordinates in pixels of the image."""
    return lambda forward: Domain(Kind.FLOAT, shape, torch.float32, low=0, high=64)


def _two_images(forward: Any) -> Domain:
    """Two images whose key points are matched."""
    return floats((2, 3, 64, 64))


def _image(forward: Any) -> Domain:
    """Half of what the model sees: the prompt and the image stand above each other."""
    height, width = forward.config.image_size
    return floats((3, height // 2, width))


def _noise_of_mask_units(forward: Any) -> Domain | None:
    """By which units of several patches are masked."""
    config = forward.config
    if not forward.name.endswith("ForPreTraining"):
        return None
    sizes = zip(config.image_size, config.patch_stride, config.masked_unit_size, strict=True)
    return floats((math.prod(side // stride // unit for side, stride, unit in sizes),))


def _omdet_tokens(rows: int) -> Any:
    """Ids of the texts of one image; those of its classes are one after the other."""
    kind = "classes" if rows > 1 else "tasks"
    return lambda forward: Domain(
        Kind.TOKENS,
        (_OMDET_TEXT,),
        rows=rows,
        low=3,
        high=forward.config.text_config.vocab_size,
        mask=f"{kind}_attention_mask",
    )


def _omdet_mask(rows: int) -> Any:
    return lambda forward: Domain(Kind.MASK, (_OMDET_TEXT,), rows=rows)


_SAM_INPUTS: Final[Mapping[str, Any]] = {
    "input_points": _points((1, _SAM_POINTS, 2)),
    "input_labels": lambda forward: Domain(Kind.INDEX, (1, _SAM_POINTS)),
    "input_boxes": _points((1, 4)),
}

# Patches of all images stand in one row.
_MINICPM_INPUTS: Final[Mapping[str, Any]] = {
    "pixel_values": lambda forward: Domain(
        Kind.FLOAT, (1, 3, 16, 16 * 24), torch.float32, batched=False, low=-6, high=6
    ),
    "target_sizes": lambda forward: Domain(
        Kind.FIXED,
        (2, 2),
        batched=False,
        value=torch.tensor([[4, 4], [2, 4]]),
        reason="it states sizes that the image must agree with",
    ),
}

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "BeitForSemanticSegmentation": (_FOUR_STAGES,),
    "Data2VecVisionForSemanticSegmentation": (_FOUR_STAGES,),
    "DetaModel": (
        Change(
            "two stages ask for heads that it has not (modeling_deta.py:1718 reads those of"
            " DetaForObjectDetection); the example of its documentation turns them off too",
            {"two_stage": False},
        ),
    ),
    "DetrForSegmentation": (
        Change(
            "the mask head's group norms divide width and heads together",
            {"encoder_attention_heads": 8, "decoder_attention_heads": 8},
        ),
    ),
    "EfficientFormerForImageClassificationWithTeacher": (
        Change("it reads one width where its configuration has four", {"hidden_size": 56}),
    ),
    "HieraForPreTraining": (
        Change(
            "its decoder's sizes have no defaults",
            {"decoder_hidden_size": 64, "decoder_num_heads": 2, "decoder_depth": 2},
        ),
    ),
    "bit": (_FEWER_GROUPS,),
    "chmv2": (
        Change("its head reads the class tokens of maps", {"backbone_config": _CLASS_TOKENS}),
    ),
    "cvt": (Change("a stage reads its drop rate at its own index", {"depth": [1, 2, 3]}),),
    "depth_pro": (
        Change(
            "an image of four patches a side is scaled and cut into such patches",
            {
                "patch_size": 32,
                "intermediate_hook_ids": [1, 0],
                **{
                    f"{part}_model_config": {"image_size": 32, "patch_size": 8}
                    for part in ("image", "patch", "fov")
                },
            },
        ),
    ),
    "deta": (
        Change("a group norm of 32 groups has several numbers of one pixel", {"d_model": 64}),
    ),
    "donut-swin": (_SWIN_WINDOW,),
    "edgetam": (
        Change(
            "its default backbone is a configuration on the hub; the same of timm in small",
            {"vision_config": _EDGETAM_VISION},
            {"vision_config": _EDGETAM_VISION},
        ),
    ),
    "edgetam_vision_model": (
        Change(
            "its default backbone is a configuration on the hub; the same of timm in small",
            _EDGETAM_VISION,
            _EDGETAM_VISION,
        ),
    ),
    "efficientformer": (
        Change("attention biases are made for this many patches a side", {"resolution": 2}),
    ),
    "efficientloftr": (
        Change(
            "rotary angles of a head are for half of the width, by a factor of four",
            {"num_attention_heads": 8, "num_key_value_heads": 8},
        ),
    ),
    "efficientnet": (
        Change(
            "its widths and depths are tables scaled by these numbers",
            {"width_coefficient": 0.25, "depth_coefficient": 0.3, "hidden_dim": 320},
        ),
    ),
    "eomt": (Change("queries join before the last blocks, of two layers", {"num_blocks": 1}),),
    "maskformer": (
        Change(_GROUPS_OF_CHANNELS, {"fpn_feature_size": 32, "mask_feature_size": 32}),
    ),
    "exaone4_5_vision": (_WINDOW_OF_PATCHES,),
    "lw_detr": (Change("maps by scale have no default", {"projector_scale_factors": [1.0]}),),
    **{
        kind: (Change("patches merge after a layer that is there", {"insert_layer_id": 0}),)
        for kind in ("minicpm_ocr_vision", "minicpmv4_7_vision")
    },
    "pp_lcnet": (_QUARTER,),
    "pp_lcnet_v3": (_QUARTER,),
    "pp_lcnet_v4": (_LCNET_V4,),
    "pp_ocrv5_server_det": (
        Change("kernels of its neck, and scales of its maps, have no default", _LONG_KERNELED),
    ),
    "pp_ocrv6_medium_det": (_maps_of_lcnet_v4(**_LONG_KERNELED),),
    "pp_ocrv6_small_det": (
        _maps_of_lcnet_v4(neck_out_channels=32, layer_list_out_channels=[16, 16, 32, 64]),
    ),
    "pp_ocrv6_small_rec": (_LCNET_V4_READER,),
    "pp_ocrv6_tiny_rec": (_LCNET_V4_READER,),
    "pp_ocrv5_mobile_rec": (Change("its vocabulary, and widths scaled by a number", _SMALL_OCR),),
    "pp_doclayout_v2": (
        Change(
            "thresholds and order of classes have no default",
            {"class_thresholds": [0.5, 0.5], "class_order": [0, 1]},
        ),
    ),
    "pp_ocrv5_mobile_det": (
        Change("widths of its backbone scaled by a number", {"backbone_config": {"scale": 0.5}}),
    ),
    "VideoPrismForVideoClassification": (
        Change("a narrower feed-forward", {"intermediate_size": 128}),
    ),
    "qwen2_5_vl_vision": (_WINDOW_OF_PATCHES,),
    "sam3_tracker": (
        Change(
            "sizes of maps are listed",
            {
                "vision_config": {"backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]]},
                "prompt_encoder_config": {"image_size": 56},
            },
        ),
    ),
    "sapiens2": (
        Change(
            "key heads by layer follow from the number of heads, and heads have no sizes",
            {
                "num_key_value_heads_per_layer": None,
                "head_config": {
                    "upsample_out_channels": [32, 16],
                    "upsample_kernel_sizes": [4, 4],
                    "conv_out_channels": [16],
                    "conv_kernel_sizes": [1],
                    "scale_conv_out_channels": [8],
                    "scale_conv_kernel_sizes": [1],
                    "scale_final_hidden_sizes": [16, 1],
                    "scale_final_input_size": 32,
                },
            },
        ),
    ),
    "uvdoc": (
        Change(
            _UVDOC,
            {
                "backbone_config": {**_UVDOC_BACKBONE, "out_indices": [1, 2, 3, 4, 5, 6]},
                "bridge_connector": [32, 32],
                "out_point_positions2D": [[32, 8], [8, 2]],
            },
        ),
    ),
    "uvdoc_backbone": (Change(_UVDOC, _UVDOC_BACKBONE),),
    "vit_hybrid": (
        Change(
            "channels and size of its backbone's map are listed, and its group norms divide them",
            {
                "backbone_featmap_shape": [1, 32, 4, 4],
                "backbone_config": {"num_groups": 2, "hidden_sizes": [8, 16, 32, 64]},
            },
        ),
    ),
    "vitmatte": (
        Change(
            "the head states the width of the backbone",
            {"hidden_size": 96, "backbone_config": {"hidden_size": 96}},
        ),
    ),
    "mgp-str": (
        Change(
            "vocabularies of its three heads",
            {"num_bpe_labels": 300, "num_wordpiece_labels": 200},
        ),
    ),
    "MLCDVisionModel": (
        Change("rotary positions take four numbers at a time", {"hidden_size": 64}),
    ),
    "mobilenet_v1": (
        Change("its widths are a table scaled by this number", {"depth_multiplier": 0.25}),
    ),
    "mobilenet_v2": (
        Change("its widths are a table scaled by this number", {"depth_multiplier": 0.25}),
    ),
    "mobilevitv2": (
        Change(
            "its widths are a table scaled by this number",
            {"width_multiplier": 0.25, "aspp_out_channels": 64},
        ),
    ),
    "sam": (
        Change(
            "one of two layers attends globally, the other in windows smaller than the image",
            {"vision_config": {"global_attn_indexes": [1], "window_size": 2}},
        ),
    ),
    "sam2": (Change(_SAM2_SIZES, {"vision_config": _SAM2_VISION}),),
    "sam2_hiera_det_model": (Change(_SAM2_SIZES, _HIERA_DET),),
    "sam2_vision_model": (Change(_SAM2_SIZES, _SAM2_VISION),),
    "omdet-turbo": (
        Change(
            "a small backbone of timm with the channels last, as its default has them",
            {
                "backbone_config": {
                    "model_type": "timm_backbone",
                    "backbone": "test_mambaout",
                    "use_pretrained_backbone": False,
                    "out_indices": [1, 2, 3],
                },
                "encoder_in_channels": [32, 48, 64],
            },
        ),
    ),
    "pe_video_encoder": (
        Change(
            "sizes of its encoder of frames, which timm makes; four patches a side",
            {
                "vision_config": {
                    "model_args": {
                        "img_size": 56,
                        "embed_dim": 32,
                        "depth": 2,
                        "num_heads": 2,
                        "attn_pool_num_heads": 2,
                        "ref_feat_shape": [4, 4],
                    },
                },
            },
        ),
    ),
    "pix2struct": (
        Change(
            "heads together are as wide as the hidden size",
            {"text_config": {"d_kv": 32}, "vision_config": {"d_kv": 32}},
        ),
    ),
    "seggpt": (Change("the prompt stands above the image", {"image_size": [128, 64]}),),
    "superglue": (
        Change(
            "its configuration checks defaults of lists, and does not keep them",
            {"keypoint_encoder_sizes": [8, 16, 32]},
            {"keypoint_encoder_sizes": [8, 16, 32], "gnn_layers_types": ["self", "cross"]},
        ),
    ),
    "swin": (_SWIN_WINDOW,),
    "timm_backbone": (
        Change(
            "the smallest ResNet of timm",
            {"backbone": "test_resnet", "use_pretrained_backbone": False},
        ),
    ),
    "timm_wrapper": (Change("the smallest ResNet of timm", {"architecture": "test_resnet"}),),
    "vision-encoder-decoder": (
        Change(
            "it has no encoder and decoder of its own",
            {"decoder_start_token_id": 1, "pad_token_id": 0},
            {
                "encoder": {"model_type": "vit"},
                "decoder": {"model_type": "bert", "is_decoder": True, "add_cross_attention": True},
            },
        ),
    ),
    "vjepa2": (
        Change(
            "a head is cut into three for rotary positions of time, height and width",
            {"pred_hidden_size": 96},
        ),
    ),
    "yolos": (
        Change("height and width that differ, as in its default", {"image_size": [64, 96]}),
    ),
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {}

_MASK_OF_ONES: Final = "the forward makes a mask of ones where it has none, and reads neither"

# Scaled to each map beside the map itself, of which only the latter is projected.
_MASK_IS_DROPPED: Final = "the mask of pixels is scaled to the maps and read no more"
_RT_DETRS: Final = (
    "d_fine",
    "pp_doclayout_v2",
    "pp_doclayout_v3",
    "pp_doclayout_v4",
    "rt_detr",
    "rt_detr_v2",
)

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {
    **{kind: {"pixel_mask": _MASK_IS_DROPPED} for kind in _RT_DETRS},
    "deimv2": {"pixel_mask": "its backbone is not given it, as a TODO in the forward says"},
    "mask2former": {"pixel_mask": _MASK_OF_ONES},
    "maskformer": {"pixel_mask": _MASK_OF_ONES},
    "oneformer": {"pixel_mask": _MASK_OF_ONES},
}

INFINITE: Final[Mapping[str, Mapping[str, str]]] = {
    "DetaForObjectDetection": {
        name: "a proposal for padding, or too near an edge, is infinite (modeling_deta.py:1570)"
        for name in ("enc_outputs_coord_logits", "output_proposals")
    },
}

UNINITIALISED: Final[Mapping[str, str]] = {
    "vit_hybrid": (
        "modeling_vit_hybrid.py:515 sets a mask token to zero that it has not; with weights of a"
        " checkpoint that line is never reached"
    ),
}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {
    # Before it suppresses overlaps, it chooses a thousand of what it sees.
    "DetaForObjectDetection": {
        "pixel_values": lambda forward: floats((3, 224, 224), mask="pixel_mask"),
        "pixel_mask": lambda forward: Domain(Kind.AREA, (224, 224), shortest=28),
    },
    "depth_pro": {
        # Scaled by a quarter, the image is one patch.
        "pixel_values": lambda forward: floats((3, 128, 128)),
    },
    "edgetam": _SAM_INPUTS,
    "efficientloftr": {"pixel_values": _two_images},
    "lightglue": {"pixel_values": _two_images},
    "gemma4_vision": {
        "pixel_values": lambda forward: floats((36, 3 * forward.config.patch_size**2)),
        "pixel_position_ids": lambda forward: Domain(
            Kind.FIXED,
            (36, 2),
            value=torch.cartesian_prod(torch.arange(6), torch.arange(6)).flip(-1)[None],
            reason="it states where in the image a patch stands",
        ),
    },
    "inkling2_vision": {
        # A row is a block of patches that are merged.
        "pixel_values": lambda forward: Domain(
            Kind.FLOAT, (40, 40, 3), torch.float32, rows=16, low=-6, high=6
        ),
    },
    "kimi_k25_vision": {
        "pixel_values": lambda forward: Domain(
            Kind.FLOAT, (3, 14, 14), torch.float32, rows=16, low=-6, high=6
        ),
    },
    "minicpm_ocr_vision": _MINICPM_INPUTS,
    "minicpmv4_7_vision": _MINICPM_INPUTS,
    "pp_ocrv5_mobile_rec": {"pixel_values": lambda forward: floats((3, 96, 128))},
    **{
        # Which its backbone and a pool make one row.
        kind: {"pixel_values": lambda forward: floats((3, 48, 128))}
        for kind in ("pp_ocrv6_small_rec", "pp_ocrv6_tiny_rec")
    },
    "sam3_tracker": _SAM_INPUTS,
    "hiera": {"noise": _noise_of_mask_units},
    "oneformer": {
        "task_inputs": lambda forward: Domain(
            Kind.INDEX, (forward.config.task_seq_len,), high=512
        ),
    },
    "prompt_depth_anything": {
        # A depth that is the same everywhere is divided by its spread: sensors leave holes of 0.
        "prompt_depth": lambda forward: Domain(
            Kind.FLOAT, (1, 16, 16), torch.float32, low=0, high=10, shortest=12
        ),
    },
    "omdet-turbo": {
        "classes_input_ids": _omdet_tokens(_OMDET_CLASSES),
        "classes_attention_mask": _omdet_mask(_OMDET_CLASSES),
        "tasks_input_ids": _omdet_tokens(1),
        "tasks_attention_mask": _omdet_mask(1),
        "classes_structure": lambda forward: Domain(
            Kind.FIXED,
            (),
            value=torch.tensor([_OMDET_CLASSES]),
            reason="it states how many classes an image has",
        ),
    },
    "pix2struct": {
        # The row and the column of each patch stand before its pixels.
        "flattened_patches": lambda forward: Domain(
            Kind.FLOAT,
            (_PATCHES, 2 + forward.config.vision_config.patch_embed_hidden_size),
            torch.float32,
            low=0,
            high=8,
            mask="attention_mask",
        ),
        "attention_mask": lambda forward: Domain(Kind.MASK, (_PATCHES,)),
    },
    "pe_video_encoder": {
        "pixel_values_videos": lambda forward: floats((4, 3, 56, 56)),
        "padding_mask_videos": lambda forward: Domain(Kind.MASK, (4,)),
    },
    "sam": _SAM_INPUTS,
    "sam2": _SAM_INPUTS,
    "sam_hq": _SAM_INPUTS,
    "seggpt": {
        "pixel_values": _image,
        "prompt_pixel_values": _image,
        "prompt_masks": _image,
    },
    "superglue": {"pixel_values": _two_images},
    "yolos": {
        # Another size than the configuration's, so that position embeddings are interpolated.
        "pixel_values": lambda forward: floats((3, 80, 64)),
    },
}

LARGE: Final[Mapping[str, str]] = {}

_TAKES_A_SESSION: Final = (
    "the forward takes a session, a Python object with the frames and what was made of them"
)

IMPOSSIBLE: Final[Mapping[str, str]] = {
    "EdgeTamVideoModel": _TAKES_A_SESSION,
    "GlmImageVQVAE": "it has no forward: others call its encoder",
    "Sam2VideoModel": _TAKES_A_SESSION,
    "Sam3TrackerVideoModel": _TAKES_A_SESSION,
    "Sam3VideoModel": _TAKES_A_SESSION,
    "PerceptionEncoder": "the auto mappings name this class; transformers has none of its name",
}
