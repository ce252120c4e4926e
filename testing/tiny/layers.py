"""Which layers of a configuration remain, and lists whose length follows the depth."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from testing.tiny.values import is_list_of

__all__ = [
    "DEPTH",
    "LAYERS",
    "cut_to_depth",
    "is_stages",
    "kept_layers",
    "last_layers",
    "layer_outputs",
    "taken_stages",
]

LAYERS: Final = 2
"""How many layers remain where all are of one type."""
DEPTH: Final = re.compile(
    r"(num_|n_)?(encoder_|decoder_|hidden_)?(layers?|depths?|num_layers)|(.*_)?num_hidden_layers"
    r"|n_layers?|(.*_)?(encoder|decoder)_layers|n_(input|output|recurrent)_layers"
    r"|num_layers_per_stack|num_blocks"
)
"""Names of entries that hold a depth."""
# Which layers' outputs a head takes.
_OUTPUTS = re.compile(r"(.*_)?out_indices")
_LAYER_NUMBERS = re.compile(r"mlp_only_layers")
# How many of the last layers have no keys and values of their own.
_SHARED = "num_kv_shared_layers"
# Computed by the configuration from its depth.
_STAGES = frozenset({"out_features", "out_indices", "stage_names"})


def layer_outputs(
    values: Mapping[str, Any], stages: list[str] | None, depth: int
) -> dict[str, list[int]]:
    """Entries that list outputs by layer; those of stages of several layers are no such."""
    if stages and len(stages) - 1 != depth:
        return {}
    return {
        key: list(item)
        for key, item in values.items()
        if _OUTPUTS.fullmatch(key) and is_list_of(item, int) and len(item) <= depth
    }


def last_layers(
    outputs: Mapping[str, list[int]], stages: list[str] | None, layers: int
) -> dict[str, list[int]]:
    """As many outputs as before, of the last layers that remain; stage 0 is the stem."""
    end = layers + 1 if stages else layers
    return {key: list(range(end - len(item), end)) for key, item in outputs.items()}


def is_stages(key: str, value: Any) -> bool:
    """Whether an entry names stages; EfficientLoFTR calls its widths the same."""
    return key in _STAGES and not (key == "out_features" and is_list_of(value, int))


def taken_stages(values: Mapping[str, Any]) -> dict[str, list[int]]:
    """Stages of a backbone whose maps are taken; all stages remain."""
    stages = values.get("out_indices")
    return {"out_indices": list(stages)} if stages else {}


def kept_layers(values: Mapping[str, Any], depth: int, fewest: int) -> list[int]:
    """Layers that remain: the first of every type, and `LAYERS` or `fewest` at least.

    Those that share keys and values have every type once more.
    """
    kept, shared = {0}, depth - (values.get(_SHARED) or 0)
    for item in values.values():
        if _is_list_of_kinds(item) and len(item) == depth:
            own, sharing = item[:shared], item[shared:]
            kept.update(own.index(kind) for kind in own)
            kept.update(shared + sharing.index(kind) for kind in sharing)
    for layers in _layer_numbers(values).values():
        kept.add(next((layer for layer in range(depth) if layer not in layers), 0))
    others = (layer for layer in range(depth) if layer not in kept)
    while len(kept) < min(max(LAYERS, fewest), depth):
        kept.add(next(others))
    return sorted(kept)


def _is_list_of_kinds(value: Any) -> bool:
    """Names, or flags of zero and one."""
    return is_list_of(value, str) or (is_list_of(value, int) and set(value) == {0, 1})


def _layer_numbers(values: Mapping[str, Any]) -> dict[str, list[int]]:
    """Entries that list layers by their numbers, but for empty ones."""
    return {key: item for key, item in values.items() if _LAYER_NUMBERS.fullmatch(key) and item}


def cut_to_depth(
    values: Mapping[str, Any], small: Mapping[str, Any], depth: int, kept: list[int]
) -> dict[str, Any]:
    """Depths, and lists of one entry per layer, cut to the layers that remain."""
    cut: dict[str, Any] = {}
    for key, value in values.items():
        if DEPTH.fullmatch(key) and value == depth:
            cut[key] = len(kept)
        elif isinstance(value, (list, tuple)) and len(value) == depth > len(kept):
            cut[key] = [small[key][layer] for layer in kept]
    for key, layers in _layer_numbers(values).items():
        cut[key] = [kept.index(layer) for layer in layers if layer in kept]
    if values.get(_SHARED):
        cut[_SHARED] = sum(layer >= depth - values[_SHARED] for layer in kept)
    return cut
