"""Which output positions a mask of the inputs leaves out of the comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch

from exporters.tree import substitute, tensor_leaves
from testing.subject import Inputs

__all__ = [
    "CACHES",
    "KEYS_OF_HEADS",
    "MaskedLeaves",
    "comparison_masks",
    "find_mask",
    "find_masked_leaves",
    "in_cache",
]

CACHES: Final = ("cache", "past_key_values", "cache_params")
"""What releases of transformers call a cache, among inputs and outputs."""

_MASKS: Final = ("attention_mask", "pixel_attention_mask")
KEYS_OF_HEADS: Final = 4
"""Axes of what a cache keeps of attention: batch, heads, positions, features."""


@dataclass(frozen=True)
class MaskedLeaves:
    """Output leaves that have the batch and the sequence of the inputs' mask as axes.

    Attributes:
        paths: Their paths.
        note: Why none could be told, when that is so.
        read_positions: `Subject.read_positions`.
    """

    paths: frozenset[str] = frozenset()
    note: str | None = None
    read_positions: Callable[[Any, Mapping[str, Any]], dict[str, torch.Tensor]] | None = None


def find_mask(inputs: Mapping[str, Any]) -> tuple[str, torch.Tensor] | None:
    """Name and value of the 2-D mask: ``attention_mask``, else ``pixel_attention_mask``.

    Dict, block and additive masks (anything but two axes of zeros and ones) are no such mask.
    """
    for name in _MASKS:
        mask = inputs.get(name)
        if isinstance(mask, torch.Tensor) and mask.dim() == 2 and _is_binary(mask):
            return name, mask
    return None


def find_masked_leaves(
    output: Any, inputs: Mapping[str, Any], domain: Inputs, call: Callable[[dict[str, Any]], Any]
) -> MaskedLeaves:
    """Find the output leaves that have one row per sample and one column per mask position.

    The axis of positions is the second, and of a cache's keys and values, (batch, heads,
    positions, features), the third: whoever reads a cache later leaves out what the mask does.

    Equal sizes do not show that: heads, labels or a decoder's length may coincide with them. So
    the model is run once more with one sample more and the mask's axis one position shorter, and
    a leaf counts only if its axes follow both. Where that run is impossible no leaf counts, and
    everything is compared: the stricter choice.

    Args:
        output: Eager's output on `inputs`.
        inputs: The traced inputs.
        domain: Where inputs of another batch size come from.
        call: Eager on keyword inputs.
    """
    found = find_mask(inputs)
    if not found or not domain.families:
        return MaskedLeaves()
    candidates = _along(output, found[1].shape)
    if not candidates:
        return MaskedLeaves()
    try:
        probe = _resized(domain.fresh(domain.families[0], domain.batch_size + 1), found[0])
        resized = call(probe)
    except Exception as error:
        # Any error of a model that does not take the sizes; the answer is then "not known".
        why = f"{type(error).__name__} on a batch one larger and a sequence one shorter"
        return MaskedLeaves(note=f"positions that `{found[0]}` masks are compared too: {why}")
    return MaskedLeaves(candidates & _along(resized, probe[found[0]].shape))


def comparison_masks(
    output: Any, inputs: Mapping[str, Any], masked: MaskedLeaves
) -> dict[str, torch.Tensor]:
    """For each masked leaf of `output`, a bool mask of the positions to compare.

    A sample whose positions are all masked is compared in full, so that a wrong row of it (NaN,
    where eager has zeros) is not taken for padding.
    """
    read = masked.read_positions(output, inputs) if masked.read_positions else {}
    return {**_masked_positions(output, inputs, masked), **read}


def _masked_positions(
    output: Any, inputs: Mapping[str, Any], masked: MaskedLeaves
) -> dict[str, torch.Tensor]:
    found = find_mask(inputs)
    if not found or not masked.paths:
        return {}
    keep = found[1].cpu() != 0
    keep = keep | ~keep.any(dim=1, keepdim=True)
    if bool(keep.all()):
        return {}
    leaves = tensor_leaves(output)
    paths = _along(output, keep.shape) & masked.paths
    return {path: _for_leaf(keep, path, leaves[path]) for path in paths}


def _for_leaf(keep: torch.Tensor, path: str, leaf: torch.Tensor) -> torch.Tensor:
    if _position_axis(path, leaf) == 1:
        return keep
    return keep.unsqueeze(1).expand(leaf.shape[:3])


def _is_binary(mask: torch.Tensor) -> bool:
    return bool(((mask == 0) | (mask == 1)).all())


def _along(output: Any, shape: torch.Size) -> frozenset[str]:
    """Paths of the leaves that have a mask's batch and sequence, of these sizes, as axes."""
    leaves = tensor_leaves(output).items()
    return frozenset(path for path, leaf in leaves if _batch_and_positions(path, leaf) == shape)


def _batch_and_positions(path: str, leaf: torch.Tensor) -> torch.Size:
    axis = _position_axis(path, leaf)
    return leaf.shape[:1] + leaf.shape[axis : axis + 1]


def _position_axis(path: str, leaf: torch.Tensor) -> int:
    return 2 if in_cache(path) and leaf.ndim == KEYS_OF_HEADS else 1


def in_cache(path: str) -> bool:
    """Whether a leaf of inputs or outputs is of a cache."""
    return path.partition(".")[0] in CACHES


def _resized(inputs: dict[str, Any], mask_name: str) -> dict[str, Any]:
    """The inputs without the last position of whatever runs along the mask's sequence.

    transformers names what belongs to a decoder ``decoder_…``: its sequence is another one.
    """
    shape = inputs[mask_name].shape
    return {
        name: value if name.startswith("decoder_") else _shortened(value, shape)
        for name, value in inputs.items()
    }


def _shortened(value: Any, shape: torch.Size) -> Any:
    matching = [leaf for leaf in tensor_leaves(value).values() if leaf.shape[:2] == shape]
    return substitute(value, {id(leaf): leaf[:, :-1].clone() for leaf in matching})
