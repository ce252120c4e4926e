"""Layers of a cache that slide, as transformers' exporters trace them: they keep their whole past.

Eager drops what has left the window, and counts in a Python number. In a trace both would be
constants, so that the exporters have such a layer grow; the mask applies the window all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, Final
from unittest import mock

__all__ = ["NOTE", "growing", "slides"]

NOTE: Final = (
    "layers of a growing cache that slide have their whole past on both sides, as transformers "
    "traces them"
)

_METHODS: Final = ("update", "get_mask_sizes", "get_seq_length")


@contextmanager
def growing() -> Iterator[None]:
    """Have eager keep the whole past too."""
    caches: Any = import_module("transformers.cache_utils")
    with ExitStack() as stack:
        for name in _METHODS:
            method = getattr(caches.DynamicLayer, name)
            stack.enter_context(mock.patch.object(caches.DynamicSlidingWindowLayer, name, method))
        yield


def slides(model: Any) -> bool:
    """Whether a cache of `model` has layers that slide."""
    config = getattr(model, "config", None)
    if config is None or not hasattr(config, "get_text_config"):
        return False
    text = config.get_text_config(decoder=True)
    layers = getattr(text, "layer_types", None)
    if layers is None:
        return getattr(text, "sliding_window", None) is not None
    return "sliding_attention" in layers
