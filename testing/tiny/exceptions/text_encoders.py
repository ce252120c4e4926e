"""Exceptions of encoders of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from testing.tiny.exceptions.change import Change

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "esm": (
        Change(
            "the alphabet of proteins; the class leaves it open",
            defaults={"vocab_size": 33, "pad_token_id": 1, "mask_token_id": 32},
        ),
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
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {}
