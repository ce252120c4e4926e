"""The steps of generation as forwards: which module runs, and on which keyword inputs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import torch

from testing.generation.calls import Answer, answering, answering_copy
from testing.generation.errors import CannotGenerateError
from testing.generation.settings import NEW_TOKENS, greedy_config
from testing.not_applicable import NotApplicableError
from testing.pipeline.prepare import copy_inputs

__all__ = ["DECODE", "ENCODER", "PREFILL", "Stage", "stages_of"]

ENCODER: Final = "encoder"
PREFILL: Final = "prefill"
DECODE: Final = "decode"
# How many logits to compute is asked of each step anew, and is no input of a program.
_HINTS: Final = frozenset({"logits_to_keep"})


@dataclass(frozen=True)
class Stage:
    """One forward of generation.

    Attributes:
        module: What runs.
        inputs: Keyword inputs that it receives.
    """

    module: torch.nn.Module
    inputs: dict[str, Any]


class _SeenEnough(Exception):  # noqa: N818
    """Ends a `generate` of which nothing more is asked."""


def stages_of(
    model: Any, prompt: Mapping[str, Any], cache_length: int | None, multi_token: bool
) -> dict[str, Stage]:
    """The forwards that `generate` runs on `prompt`, by name, in the order in which they run.

    They are transformers' own where it has exporters: ``prefill`` and ``decode``, and for a
    multimodal model its components in place of the prefill. A model with an encoder has
    ``encoder`` besides, which `generate` runs once and before all. So it does, since transformers
    5.24, with encoders of images and sounds; those are components of a forward pass only, and
    here the prefill receives what the model's own have made.

    Args:
        model: A model after `without_end`.
        prompt: Keyword inputs of `generate`.
        cache_length: Positions of a static cache; None for a growing one.
        multi_token: Whether a step of more than one token is asked for, where transformers has it.
    """
    if find_spec("transformers.exporters") is None:
        return _recorded(model, prompt, cache_length)
    theirs = _decomposed(model, prompt, cache_length, multi_token)
    if not model.config.is_encoder_decoder:
        return theirs
    own = _recorded(model, prompt, cache_length)
    return {**({ENCODER: own[ENCODER]} if ENCODER in own else {}), **theirs}


def _decomposed(
    model: Any, prompt: Mapping[str, Any], cache_length: int | None, multi_token: bool
) -> dict[str, Stage]:
    utils: Any = import_module("transformers.exporters.utils")
    config = greedy_config(model, cache_length, NEW_TOKENS)
    # They write onto the model that generates.
    found: dict[str, tuple[torch.nn.Module, dict[str, Any]]]
    try:
        found = utils.decompose_for_generation(
            copy.copy(model), copy_inputs(prompt), config, multi_token
        )
    except RuntimeError:
        # It is told there where generate runs another model's forward.
        _recorded(model, prompt, cache_length)
        raise
    whole = (PREFILL, DECODE)
    return {
        name: Stage(model if name in whole else module, inputs)
        for name, (module, inputs) in found.items()
    }


def _recorded(model: Any, prompt: Mapping[str, Any], cache_length: int | None) -> dict[str, Stage]:
    """The first calls of `generate`, for releases of transformers that do not tell them."""
    calls: list[dict[str, Any]] = []
    encoded: list[dict[str, Any]] = []
    encoder = model.get_encoder() if model.config.is_encoder_decoder else None

    def step(inputs: dict[str, Any]) -> Any:
        calls.append(_kept(inputs))
        if len(calls) > 1:
            raise _SeenEnough
        return model.forward(**inputs)

    _run(model, prompt, cache_length, step, (encoder, encoded))
    if not calls:
        told = f"generate of {type(model).__name__} runs another model's forward and not its own"
        raise NotApplicableError(told)
    if len(calls) < 2:
        raise CannotGenerateError(f"generate ran {type(model).__name__} {len(calls)} times")
    stages = {PREFILL: Stage(model, calls[0]), DECODE: Stage(model, calls[1])}
    return {ENCODER: Stage(encoder, encoded[0]), **stages} if encoder and encoded else stages


def _run(
    model: Any,
    prompt: Mapping[str, Any],
    cache_length: int | None,
    step: Answer,
    encoder: tuple[torch.nn.Module | None, list[dict[str, Any]]],
) -> None:
    module, received = encoder
    config = greedy_config(model, cache_length, NEW_TOKENS)
    other = answering_copy(model, step)
    with ExitStack() as stack, suppress(_SeenEnough):
        if module is not None:
            stack.enter_context(answering(module, _told(module.forward, received)))
        other.generate(**copy_inputs(prompt), generation_config=config)


def _told(forward: Callable[..., Any], received: list[dict[str, Any]]) -> Answer:
    """The forward itself, which writes down what it receives."""

    def answer(inputs: dict[str, Any]) -> Any:
        received.append(_kept(inputs))
        return forward(**inputs)

    return answer


def _kept(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A copy, since models change what they are given."""
    return copy_inputs({name: value for name, value in inputs.items() if name not in _HINTS})
