"""Prompts from the inputs of a forward: what `model.generate` is given."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import torch

from exporters.tree import tensor_leaves
from testing.generation.settings import cache_length_of
from testing.inputs.derived import DerivedInputs
from testing.subject import Inputs

__all__ = ["Prompts", "padded_rows"]

# generate makes these itself, for each step anew.
_OF_EACH_STEP: Final = frozenset(
    {
        "position_ids",
        "cache_position",
        "past_key_values",
        "cache",
        "cache_params",
        "encoder_outputs",
        "use_cache",
        "return_dict",
        "output_attentions",
        "output_hidden_states",
        "labels",
    }
)
_OF_THE_DECODER: Final = "decoder_"
_WITHOUT_PADDING: Final = "unpadded"


class Prompts(DerivedInputs):
    """The inputs of a generative model less what generation makes itself.

    Rows of a model without an encoder are padded on the left, where every row's last token is at
    the end. Each set has a padded row: transformers 5 hands on no mask that masks nothing, and a
    program was traced with one. `Inputs` says what the attributes and methods are.
    """

    def __init__(self, inputs: Inputs, model: Any) -> None:
        super().__init__(inputs)
        self._model = model
        self._pads_left = not model.config.is_encoder_decoder
        self.families = tuple(name for name in inputs.families if name != _WITHOUT_PADDING)
        self.unchanged: Mapping[str, str] = dict(inputs.unchanged)

    @cached_property
    def cache_length(self) -> int:
        """Positions of a static cache that serves every set."""
        return cache_length_of(self._model, self.traced())

    @cached_property
    def axes(self) -> Mapping[str, int]:
        """Those of the forward's axes that a prompt has."""
        if not self.families:
            return {}
        return {axis: size for axis, size in self._inputs.axes.items() if self._has(axis, size)}

    def to_loop(self) -> dict[str, Any]:
        """The prompts of the greedy loop: not those of the trace, and with padding where it can.

        What a trace has baked in of its own prompts would pass on them.
        """
        sets = [self.fresh(family) for family in self.families]
        padded = [prompt for prompt in sets if padded_rows(prompt)]
        return next(iter([*padded, *sets]), None) or self.traced()

    def _has(self, axis: str, size: int) -> bool:
        other = self.fresh(self.families[0], lengths={axis: size + 1})
        return _shapes(other) != _shapes(self.fresh(self.families[0]))

    def _derived(self, inputs: dict[str, Any]) -> dict[str, Any]:
        kept = {
            name: value
            for name, value in inputs.items()
            if name not in _OF_EACH_STEP and not name.startswith(_OF_THE_DECODER)
        }
        mask = _mask_of(kept)
        if mask is None:
            return kept
        if mask.all():
            mask[0, -1] = 0
        if not self._pads_left:
            return kept
        return {name: _padded_left(value, mask) for name, value in kept.items()}


def padded_rows(prompt: Mapping[str, Any]) -> int:
    """How many rows of a prompt have padding."""
    mask = _mask_of(prompt)
    return 0 if mask is None else int((mask == 0).any(1).sum())


def _mask_of(prompt: Mapping[str, Any]) -> torch.Tensor | None:
    mask = prompt.get("attention_mask")
    return mask if isinstance(mask, torch.Tensor) and mask.ndim == 2 else None


def _padded_left(value: Any, mask: torch.Tensor) -> Any:
    """What has a position for each of the mask's, its padding moved before the rest."""
    if not isinstance(value, torch.Tensor) or value.shape[:2] != mask.shape:
        return value
    order = (mask != 0).long().argsort(dim=1, stable=True)
    rows = torch.arange(len(order)).unsqueeze(1)
    return value[rows, order]


def _shapes(prompt: Mapping[str, Any]) -> dict[str, torch.Size]:
    return {path: leaf.shape for path, leaf in tensor_leaves(dict(prompt)).items()}
