"""Which output positions a mask of the inputs leaves out of the comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch

from exporters.tree import substitute, tensor_leaves
from testing.subject import Inputs

__all__ = ["MaskedLeaves", "comparison_masks", "find_mask", "find_masked_leaves"]

_MASKS: Final = ("attention_mask", "pixel_attention_mask")


@dataclass(frozen=True)
class MaskedLeaves:
    """Output leaves whose first two axes are the batch and sequence of the inputs' mask.

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

    Equal sizes do not show that: heads, labels or a decoder's length may coincide with them. So
    the model is run once more with one sample more and the mask's axis one position shorter, and
    a leaf counts only if its first two axes follow both. Where that run is impossible no leaf
    counts, and everything is compared: the stricter choice.

    Args:
        output: Eager's output on `inputs`.
        inputs: The traced inputs.
        domain: Where inputs of another batch size come from.
        call: Eager on keyword inputs.
    """
    found = find_mask(inputs)
    if not found or not domain.families:
        return MaskedLeaves()
    candidates = _with_leading_axes(output, found[1].shape)
    if not candidates:
        return MaskedLeaves()
    try:
        probe = _resized(domain.fresh(domain.families[0], domain.batch_size + 1), found[0])
        resized = call(probe)
    except Exception as error:
        # Any error of a model that does not take the sizes; the answer is then "not known".
        why = f"{type(error).__name__} on a batch one larger and a sequence one shorter"
        return MaskedLeaves(note=f"positions that `{found[0]}` masks are compared too: {why}")
    return MaskedLeaves(candidates & _with_leading_axes(resized, probe[found[0]].shape))


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
    paths = _with_leading_axes(output, keep.shape) & masked.paths
    return dict.fromkeys(paths, keep)


def _is_binary(mask: torch.Tensor) -> bool:
    return bool(((mask == 0) | (mask == 1)).all())


def _with_leading_axes(output: Any, shape: torch.Size) -> frozenset[str]:
    leaves = tensor_leaves(output).items()
    return frozenset(path for path, leaf in leaves if leaf.shape[:2] == shape)


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
