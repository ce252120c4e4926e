"""The loop of generation: the library's own, with programs in place of its forwards.

`generate` makes the inputs of every step itself (mask, positions, caches), so that nothing of the
loop is written twice and only the forward is the exported program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch

from testing.generation.calls import Answer, answering, answering_copy
from testing.generation.errors import CannotGenerateError
from testing.generation.settings import greedy_config
from testing.pipeline.prepare import copy_inputs
from testing.seeds import set_seed

__all__ = ["Forwards", "Generated", "Loop"]

Step = Callable[[int, dict[str, Any]], Any]
"""Answers the forward of one step: 0 is the prefill."""


@dataclass(frozen=True)
class Generated:
    """What a loop gave.

    Attributes:
        tokens: The new tokens, (batch, steps), int64.
        logits: The logits that each was chosen by, (batch, vocabulary), one tensor a step.
    """

    tokens: torch.Tensor
    logits: tuple[torch.Tensor, ...]

    @property
    def leaves(self) -> dict[str, Any]:
        """What is compared."""
        return {"tokens": self.tokens, "logits": self.logits}


@dataclass(frozen=True)
class Forwards:
    """What answers in place of a model's forwards.

    Attributes:
        step: Answers the model's own, step by step.
        modules: What answers those of modules within it, such as the encoder, with the module.
    """

    step: Step
    modules: tuple[tuple[torch.nn.Module, Answer], ...] = field(default_factory=tuple)


@dataclass(frozen=True)
class Loop:
    """One way to generate with a model.

    Attributes:
        model: The model.
        prompt: Keyword inputs of `generate`.
        cache_length: Positions of a static cache; None for a growing one.
        steps: Tokens to generate.
    """

    model: Any
    prompt: Mapping[str, Any]
    cache_length: int | None
    steps: int

    def eager(self) -> Generated:
        """What the model itself gives."""
        return self.driven(Forwards(lambda step, inputs: self.model.forward(**inputs)))

    def driven(self, forwards: Forwards) -> Generated:
        """What comes of it when `forwards` answer in place of the model's own."""
        count = iter(range(self.steps))
        other = answering_copy(self.model, lambda inputs: forwards.step(next(count), inputs))
        config = greedy_config(self.model, self.cache_length, self.steps)
        set_seed()
        with ExitStack() as stack, torch.no_grad():
            for module, answer in forwards.modules:
                stack.enter_context(answering(module, answer))
            found = other.generate(**copy_inputs(self.prompt), generation_config=config)
        return _generated(found, self.steps)


def _generated(found: Any, steps: int) -> Generated:
    logits = getattr(found, "logits", None)
    if logits is None or len(logits) != steps:
        count = 0 if logits is None else len(logits)
        raise CannotGenerateError(
            f"generate was asked for {steps} tokens, and gave the logits of {count}"
        )
    tokens = found.sequences[:, -steps:].clone()
    return Generated(tokens, tuple(step.clone() for step in logits))
