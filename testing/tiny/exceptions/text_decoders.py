"""Exceptions of decoders of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from testing.tiny.exceptions.change import Change

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

_NO_PAD_TOKEN: Final = Change(
    "without a padding token the class refuses batches above 1", {"pad_token_id": 0}
)

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "GPT2ForSequenceClassification": (_NO_PAD_TOKEN,),
    "LlamaForSequenceClassification": (_NO_PAD_TOKEN,),
    "PhiForSequenceClassification": (_NO_PAD_TOKEN,),
    "Qwen2ForSequenceClassification": (_NO_PAD_TOKEN,),
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {}
