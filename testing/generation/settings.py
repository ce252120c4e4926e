"""What the greedy loop asks of `model.generate`, and how much it has to show."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

import torch

__all__ = [
    "DISTINCT",
    "MARGIN",
    "NEW_TOKENS",
    "cache_length_of",
    "greedy_config",
    "without_end",
]

NEW_TOKENS: Final = 8
"""Tokens that are generated for each prompt."""

DISTINCT: Final = 4
"""How many of them have to differ: a loop that repeats one token needs no cache."""

MARGIN: Final = 10.0
"""How many times the tolerance the best token has to be ahead of the second."""

_SPARE_POSITIONS: Final = 4
_PADDING: Final = 0
# What would choose other tokens than the best, or end a row before the others.
_OFF: Final[Mapping[str, Any]] = {
    "do_sample": False,
    "num_beams": 1,
    "temperature": None,
    "top_k": None,
    "top_p": None,
    "repetition_penalty": None,
    "no_repeat_ngram_size": None,
    "suppress_tokens": None,
    "begin_suppress_tokens": None,
    "forced_bos_token_id": None,
    "forced_eos_token_id": None,
    "eos_token_id": None,
    "max_length": None,
    "min_length": None,
}


def without_end(model: Any) -> None:
    """Have `model` generate greedily and never end, whatever configuration `generate` is given.

    What a given configuration leaves open, `generate` takes from the model's own.
    """
    own = copy.deepcopy(model.generation_config)
    for name, value in _OFF.items():
        if hasattr(own, name):
            setattr(own, name, value)
    if own.pad_token_id is None:
        own.pad_token_id = _PADDING
    # Else it would be made anew from the model's configuration.
    own._from_model_config = False
    model.generation_config = own


def greedy_config(model: Any, cache_length: int | None, steps: int) -> Any:
    """A ``GenerationConfig`` under which every call of one case fills the same cache.

    Args:
        model: A model after `without_end`.
        cache_length: Positions of a static cache; None for a growing one.
        steps: Tokens to generate.
    """
    config = copy.deepcopy(model.generation_config)
    config.max_new_tokens = steps
    config.return_dict_in_generate = True
    config.output_logits = True
    if cache_length is not None:
        config.cache_implementation = "static"
        config.disable_compile = True
        # Else the size follows from the number of tokens. Releases without it always do so.
        config.max_cache_len = cache_length
    return config


def cache_length_of(model: Any, prompt: Mapping[str, Any]) -> int:
    """Positions of a static cache, which serves longer prompts than `prompt` as well."""
    tokens = prompt.get("input_ids")
    if model.config.is_encoder_decoder or not isinstance(tokens, torch.Tensor):
        return NEW_TOKENS + _SPARE_POSITIONS
    return 2 * int(tokens.shape[1]) + NEW_TOKENS
