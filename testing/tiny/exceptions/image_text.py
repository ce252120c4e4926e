"""Exceptions of models of images or boxes with text, but for language models that read images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from testing.tiny.exceptions.change import Change

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

_OUTPUTS_OF_THE_IMAGE: Final = "without labels the class returns what it made of the image alone"

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {
    "BlipForQuestionAnswering": {
        "input_ids": _OUTPUTS_OF_THE_IMAGE,
        "attention_mask": _OUTPUTS_OF_THE_IMAGE,
        "decoder_input_ids": _OUTPUTS_OF_THE_IMAGE,
        "decoder_attention_mask": _OUTPUTS_OF_THE_IMAGE,
    },
}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {}
