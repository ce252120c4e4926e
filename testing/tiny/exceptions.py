"""What the rules do not give: small declared exceptions per model type or class.

`CHANGES` are arguments of a configuration, `OMITTED` inputs that a tiny model is not given,
`UNUSED` inputs that it takes but that reach no output, `SHAPES` sizes of inputs. Each says why. A
change that alters what the forward does, and not only sizes, has ``tames`` set: it is counted in
every summary and does not count as reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = [
    "CHANGES",
    "OMITTED",
    "SHAPES",
    "UNUSED",
    "Change",
    "changes_of",
    "omitted_of",
    "shape_of",
    "unused_of",
]


@dataclass(frozen=True)
class Change:
    """Arguments of a configuration that the rules do not give.

    Attributes:
        why: The reason.
        config: Arguments that replace what the rules give.
        defaults: Arguments without which the class has no usable defaults.
        tames: Whether the forward does something else than with transformers' defaults.
    """

    why: str
    config: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    tames: bool = False


_NO_PAD_TOKEN: Final = Change(
    "without a padding token the class refuses batches above 1", {"pad_token_id": 0}
)
_FOUR_STAGES: Final = Change(
    "the segmentation head takes four stages",
    {"num_hidden_layers": 4, "out_indices": [1, 2, 3, 4], "out_features": None},
)
_SWIN_WINDOW: Final = Change(
    "no stage may be smaller than a window: four stages leave 2 of 16 patches a side",
    {"window_size": 2},
)

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "audio-spectrogram-transformer": (
        Change("a tenth of the patches of ten seconds of sound", {"max_length": 64}),
    ),
    "BeitForSemanticSegmentation": (_FOUR_STAGES,),
    "cvt": (Change("a stage reads its drop rate at its own index", {"depth": [1, 2, 3]}),),
    "donut-swin": (_SWIN_WINDOW,),
    "dpt": (
        Change(
            "the neck takes four layers, as many as reassemble factors",
            {"num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3]},
        ),
    ),
    "esm": (
        Change(
            "the alphabet of proteins; the class leaves it open",
            defaults={"vocab_size": 33, "pad_token_id": 1, "mask_token_id": 32},
        ),
    ),
    "GPT2ForSequenceClassification": (_NO_PAD_TOKEN,),
    "LlamaForSequenceClassification": (_NO_PAD_TOKEN,),
    "mobilenet_v2": (
        Change("its widths are a table scaled by this number", {"depth_multiplier": 0.25}),
    ),
    "modernbert": (
        Change(
            "a window within the length of the inputs, else it masks nothing",
            {"local_attention": 8},
        ),
        Change(
            "reference_compile=False: its default is torch.compile inside the forward wherever "
            "triton is installed and the device is not the CPU",
            {"reference_compile": False},
            tames=True,
        ),
    ),
    "PhiForSequenceClassification": (_NO_PAD_TOKEN,),
    "Qwen2ForSequenceClassification": (_NO_PAD_TOKEN,),
    "swin": (_SWIN_WINDOW,),
    "t5": (
        Change(
            "every checkpoint has one; the class leaves it open", {"decoder_start_token_id": 0}
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
    "Wav2Vec2ConformerForCTC": (
        Change("letters of a CTC alphabet; the class leaves it open", {"vocab_size": 32}),
    ),
    "whisper": (Change("a second of sound instead of thirty", {"max_source_positions": 32}),),
    "yolos": (
        Change("height and width that differ, as in its default", {"image_size": [64, 96]}),
    ),
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {
    "Wav2Vec2ForMaskedLM": {"attention_mask": "its forward takes it and does not pass it on"},
    "whisper": {"attention_mask": "of features it is read by SpecAugment only, while training"},
}

_OUTPUTS_OF_THE_IMAGE: Final = "without labels the class returns what it made of the image alone"

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {
    "BlipForQuestionAnswering": {
        "input_ids": _OUTPUTS_OF_THE_IMAGE,
        "attention_mask": _OUTPUTS_OF_THE_IMAGE,
        "decoder_input_ids": _OUTPUTS_OF_THE_IMAGE,
        "decoder_attention_mask": _OUTPUTS_OF_THE_IMAGE,
    },
}

SHAPES: Final[Mapping[str, Mapping[str, tuple[int, ...]]]] = {
    # Another size than the configuration's, so that position embeddings are interpolated.
    "yolos": {"pixel_values": (3, 80, 64)},
}


def changes_of(model_type: str, model_class: str) -> tuple[Change, ...]:
    """The changes of a model type, then those of a class."""
    return CHANGES.get(model_type, ()) + CHANGES.get(model_class, ())


def omitted_of(model_type: str, model_class: str) -> Mapping[str, str]:
    """Inputs that a class is not given, each with why."""
    return {**OMITTED.get(model_type, {}), **OMITTED.get(model_class, {})}


def unused_of(model_type: str, model_class: str) -> Mapping[str, str]:
    """Inputs of a class that no output depends on, each with why."""
    return {**UNUSED.get(model_type, {}), **UNUSED.get(model_class, {})}


def shape_of(model_type: str, name: str) -> tuple[int, ...] | None:
    """Shape of an input without its batch axis, where the rules do not give it."""
    return SHAPES.get(model_type, {}).get(name)
