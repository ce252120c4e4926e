"""Exceptions of models of images or boxes with text, but for language models that read images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import torch

from testing.inputs.domains import Domain, Kind, Place, Run
from testing.tiny.exceptions.change import Change
from testing.tiny.features import floats

__all__ = ["CHANGES", "IMPOSSIBLE", "INFINITE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

_TEXT_LENGTH: Final = 16
_IMAGES: Final = 2

_OUTPUTS_OF_THE_IMAGE: Final = "without labels the class returns what it made of the image alone"
_ONE_CROSS_HEAD: Final = Change(
    "one head, as its checkpoint: position encodings make the channels of an image uneven",
    {"num_cross_attention_heads": 1},
)
# Start, end, full stop and question mark of BERT's vocabulary, which stand in the code.
_BERT_START, _BERT_END, _BERT_STOP, _BERT_QUESTION = 101, 102, 1012, 1029
_GROUNDING: Final = (
    Change(
        "the code knows four tokens of BERT by number: they part the phrases of a text",
        {"text_config": {"vocab_size": 1100}},
    ),
    Change(
        "at 64 pixels the last map has one place, whose group norm is the same for every image",
        {"backbone_config": {"image_size": 128}},
    ),
)
_NO_SUCH_TOKEN: Final = "minus infinity where the text has no token, up to `max_text_len`"
_NO_PROPOSAL: Final = "infinity where the image is padded: no proposal can be there"

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "align": (
        Change(
            "its widths are a table scaled by one number, which the stem has outside of it",
            {
                "vision_config": {
                    "width_coefficient": 0.25,
                    "depth_coefficient": 1.0,
                    "in_channels": [32, 16, 24],
                    "out_channels": [16, 24, 64],
                    "kernel_sizes": [3, 3, 5],
                    "strides": [1, 2, 2],
                    "num_block_repeats": [1, 2, 1],
                    "expand_ratios": [1, 6, 6],
                    "hidden_dim": 16,
                },
                "projection_dim": 16,
            },
        ),
    ),
    "bros": (
        Change(
            "a pair of sine and cosine for each of a box's eight coordinates in a quarter of it",
            {"hidden_size": 128, "num_attention_heads": 4},
        ),
    ),
    "colmodernvbert": (
        Change("as in ModernVBERT", {"vlm_config": {"vision_config": {"patch_size": 16}}}),
    ),
    "colqwen2": (
        Change(
            "rotary sections that all checkpoints have and the class leaves open; heads whose "
            "rotary axes have an even number of places, and the width of the text",
            {
                "vlm_config": {
                    "text_config": {
                        "hidden_size": 64,
                        "rope_scaling": {"rope_type": "default", "mrope_section": [2, 3, 3]},
                    },
                    "vision_config": {"embed_dim": 32, "num_heads": 2, "hidden_size": 64},
                }
            },
        ),
    ),
    "grounding-dino": _GROUNDING,
    "layoutlmv3": (Change("it calls the size of its image otherwise", {"input_size": 64}),),
    "lxmert": (
        Change("it calls its depths otherwise", {"l_layers": 2, "x_layers": 2, "r_layers": 2}),
        Change(
            "answers and kinds of things, whose names are a table of the data",
            {"num_qa_labels": 20, "num_object_labels": 20, "num_attr_labels": 20},
        ),
    ),
    "mm-grounding-dino": _GROUNDING,
    "perceiver": (
        Change(
            "it calls its sizes otherwise; a place of an image has channels of its own",
            {
                "num_latents": 16,
                "d_latents": 32,
                "num_self_attends_per_block": 2,
                "image_size": 16,
            },
        ),
    ),
    "PerceiverForImageClassificationFourier": (_ONE_CROSS_HEAD,),
    "PerceiverForImageClassificationConvProcessing": (_ONE_CROSS_HEAD,),
    "tvlt": (
        Change(
            "a short sound, and the decoder's depth",
            {"spectrogram_length": 64, "frequency_length": 32, "decoder_num_hidden_layers": 2},
        ),
    ),
    "vision-text-dual-encoder": (
        Change(
            "any two models; these are those of its documentation",
            defaults={
                "vision_config": {"model_type": "vit"},
                "text_config": {"model_type": "bert"},
            },
        ),
    ),
}

_DECODES_ALONE: Final = "its encoder reads images; ids stand in for a decoder's that are not given"

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {
    "pp_formulanet": {"input_ids": _DECODES_ALONE, "attention_mask": _DECODES_ALONE},
}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {
    "bridgetower": {"pixel_mask": "the class makes a mask of ones in its place"},
    "BlipForQuestionAnswering": {
        "input_ids": _OUTPUTS_OF_THE_IMAGE,
        "attention_mask": _OUTPUTS_OF_THE_IMAGE,
        "decoder_input_ids": _OUTPUTS_OF_THE_IMAGE,
        "decoder_attention_mask": _OUTPUTS_OF_THE_IMAGE,
    },
}


_OF_GROUNDING: Final = {
    "enc_outputs_class": _NO_SUCH_TOKEN,
    "encoder_logits": _NO_SUCH_TOKEN,
    "enc_outputs_coord_logits": _NO_PROPOSAL,
}
_OF_DETECTION: Final = {"logits": _NO_SUCH_TOKEN}

INFINITE: Final[Mapping[str, Mapping[str, str]]] = {
    "grounding-dino": _OF_GROUNDING,
    "GroundingDinoForObjectDetection": _OF_DETECTION,
    "mm-grounding-dino": _OF_GROUNDING,
    "MMGroundingDinoForObjectDetection": _OF_DETECTION,
}


def _video(channels: str = "num_channels", size: str = "image_size") -> Callable[[Any], Domain]:
    """A rule for the frames of a video, with the names of their sizes."""

    def rule(forward: Any) -> Domain:
        config = forward.vision_config
        side = getattr(config, size)
        return floats((config.num_frames, getattr(config, channels, 3), side, side))

    return rule


def _tvlt_mask(forward: Any) -> Domain:
    config = forward.config
    patches = config.image_size // config.image_patch_size[0]
    return Domain(Kind.MASK, (config.num_frames * patches**2,))


def _tvlt_audio_mask(forward: Any) -> Domain:
    config = forward.config
    height, width = config.audio_patch_size
    count = (config.spectrogram_length // height) * (config.frequency_length // width)
    return Domain(Kind.MASK, (count,))


def _image_attention_mask(forward: Any) -> Domain:
    """Which images each token of the text sees."""
    return Domain(Kind.INDEX, (_TEXT_LENGTH, _IMAGES))


def _unit_boxes(forward: Any) -> Domain:
    return Domain(
        Kind.BOXES, (_TEXT_LENGTH, 4), dtype=torch.float32, high=1, mask="attention_mask"
    )


def _perceiver_inputs(forward: Any) -> Domain:
    return floats((_TEXT_LENGTH, forward.config.d_model), mask="attention_mask")


def _perceiver_image(forward: Any) -> Domain:
    """An image, though the configuration has the frames of a video too."""
    return floats((3, *[forward.config.image_size] * 2))


def _phrases(forward: Any) -> Domain:
    """Ids with the tokens that part phrases."""
    marks = (_BERT_START, _BERT_END, _BERT_STOP, _BERT_QUESTION)
    return Domain(
        Kind.TOKENS,
        (_TEXT_LENGTH,),
        high=forward.text_config.vocab_size,
        excluded=frozenset((0, *marks)),
        mask="attention_mask",
        runs=(
            Run((_BERT_START,), Place.START),
            Run((_BERT_STOP,)),
            Run((_BERT_STOP, _BERT_END), Place.END),
        ),
    )


def _padded_patches(forward: Any) -> Domain:
    """Patches of each image, in rows that the model cuts to the grid's size."""
    vision = forward.nested("vision_config", "spatial_merge_size")
    side = 2 * vision.spatial_merge_size
    width = 3 * vision.temporal_patch_size * vision.patch_size**2
    return floats((side**2, width))


_TVLT: Final[Mapping[str, Any]] = {
    "pixel_values": _video("num_image_channels"),
    "audio_values": lambda forward: floats(
        (1, forward.config.spectrogram_length, forward.config.frequency_length)
    ),
    "pixel_mask": _tvlt_mask,
    "audio_mask": _tvlt_audio_mask,
}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "blip_2_qformer": {
        "query_embeds": lambda forward: floats((8, forward.config.hidden_size)),
        "encoder_hidden_states": lambda forward: floats(
            (_TEXT_LENGTH, forward.config.encoder_hidden_size), mask="encoder_attention_mask"
        ),
        "encoder_attention_mask": lambda forward: Domain(Kind.MASK, (_TEXT_LENGTH,)),
    },
    "colmodernvbert": {
        "pixel_values": lambda forward: floats((1, 3, *[forward.vision_config.image_size] * 2))
    },
    "colqwen2": {"pixel_values": _padded_patches},
    "grounding-dino": {"input_ids": _phrases},
    "mm-grounding-dino": {"input_ids": _phrases},
    "idefics": {
        "pixel_values": lambda forward: floats(
            (_IMAGES, 3, *[forward.vision_config.image_size] * 2)
        ),
        "image_attention_mask": _image_attention_mask,
    },
    "PerceiverForImageClassificationConvProcessing": {"pixel_values": _perceiver_image},
    "PerceiverForImageClassificationFourier": {"pixel_values": _perceiver_image},
    "PerceiverForImageClassificationLearned": {"pixel_values": _perceiver_image},
    "PerceiverModel": {
        "inputs": _perceiver_inputs,
        "attention_mask": lambda forward: Domain(Kind.MASK, (_TEXT_LENGTH,)),
    },
    "tvlt": _TVLT,
    "udop": {"bbox": _unit_boxes},
    "xclip": {"pixel_values": _video()},
}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {
    "TvltForPreTraining": "it raises without labels, which are for training only",
    "tvp": "it views the embeddings of columns to the batch's size: a batch above 1 raises",
    "layoutlmv2": "its constructor requires detectron2, which no package registry has",
}
