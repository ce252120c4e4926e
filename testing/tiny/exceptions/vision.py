"""Exceptions of models of images and videos."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from testing.tiny.exceptions.change import Change
from testing.tiny.features import floats

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

_FOUR_STAGES: Final = Change(
    "the segmentation head takes four stages",
    {"num_hidden_layers": 4, "out_indices": [1, 2, 3, 4], "out_features": None},
)
_SWIN_WINDOW: Final = Change(
    "no stage may be smaller than a window: four stages leave 2 of 16 patches a side",
    {"window_size": 2},
)

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "BeitForSemanticSegmentation": (_FOUR_STAGES,),
    "cvt": (Change("a stage reads its drop rate at its own index", {"depth": [1, 2, 3]}),),
    "donut-swin": (_SWIN_WINDOW,),
    "dpt": (
        Change(
            "the neck takes four layers, as many as reassemble factors",
            {"num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3]},
        ),
    ),
    "mobilenet_v2": (
        Change("its widths are a table scaled by this number", {"depth_multiplier": 0.25}),
    ),
    "swin": (_SWIN_WINDOW,),
    "yolos": (
        Change("height and width that differ, as in its default", {"image_size": [64, 96]}),
    ),
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "yolos": {
        # Another size than the configuration's, so that position embeddings are interpolated.
        "pixel_values": lambda forward: floats((3, 80, 64)),
    },
}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {}
