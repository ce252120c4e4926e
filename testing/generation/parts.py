"""The components of a case of generation: what is exported, and what it receives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from exporters.base import Backend
from exporters.hf.sliding_caches import slides
from exporters.tree import tensor_leaves
from testing.cases import ExportCase
from testing.comparison.masks import CACHES
from testing.generation.loop import Loop
from testing.generation.padding import read_positions
from testing.generation.prompts import Prompts
from testing.generation.settings import NEW_TOKENS, without_end
from testing.generation.stages import DECODE, PREFILL, Stage, stages_of
from testing.generation.weights import distinguish
from testing.inputs.captured import CapturedInputs
from testing.not_applicable import NotApplicableError
from testing.pipeline.parts import Part
from testing.subject import Subject

__all__ = ["Generation", "parts_of"]


def parts_of(subject: Subject, case: ExportCase, backend: Backend) -> list[Part]:
    """The components of a case; the model is made ready to generate first, in place.

    Args:
        subject: The whole model, normalised.
        case: The case.
        backend: Its backend.

    Raises:
        NotApplicableError: The model has no cache of the case's kind.
    """
    _require_cache_of(subject.model, case)
    without_end(subject.model)
    generation = Generation(subject.model, Prompts(subject.inputs, subject.model), case)
    if not subject.is_trained:
        distinguish(generation.loop(NEW_TOKENS))
    stages = generation.stages()
    _require_past(stages[DECODE], subject.model)
    return [
        Part(name, generation.subject_of(name, stage.module, subject))
        for name, stage in stages.items()
    ]


@dataclass(frozen=True)
class Generation:
    """What a case generates with.

    Attributes:
        model: The model, made ready to generate.
        prompts: Its prompts.
        case: The case.
    """

    model: Any
    prompts: Prompts
    case: ExportCase

    @property
    def cache_length(self) -> int | None:
        """Positions of a static cache; None for a growing one."""
        return self.prompts.cache_length if self.case.static_cache else None

    def loop(self, steps: int) -> Loop:
        """The loop over so many tokens."""
        return Loop(self.model, self.prompts.to_loop(), self.cache_length, steps)

    def stages(self, prompt: Mapping[str, Any] | None = None) -> dict[str, Stage]:
        """The stages as the case exports them, on the prompts of the trace or on others.

        A step of one token is traced with an axis of size 1, which no trace can leave open, so
        that dynamic shapes get a step of several. A full window of a static cache takes one: the
        mask that transformers hands on is of the window, and eager attends to a key more.
        """
        multi_token = self.case.dynamic and not (self.case.static_cache and slides(self.model))
        given = self.prompts.traced() if prompt is None else prompt
        return stages_of(self.model, given, self.cache_length, multi_token)

    def subject_of(self, name: str, module: torch.nn.Module, whole: Subject) -> Subject:
        """A stage: the module that runs in it, and what that receives."""
        pads_left = name == PREFILL and not self.model.config.is_encoder_decoder
        return replace(
            whole,
            model=module,
            inputs=self._inputs_of(name),
            read_positions=read_positions if pads_left else None,
        )

    def _inputs_of(self, name: str) -> CapturedInputs:
        """The inputs of a stage, for every set of prompts."""
        captured = CapturedInputs(self.prompts, lambda prompt: self.stages(prompt)[name].inputs)
        is_with_encoder = self.model.config.is_encoder_decoder
        if self.case.static_cache and is_with_encoder and name == PREFILL:
            # The cache of the cross-attention is made here, of the encoder's size.
            captured.axes = {}
        return captured


def _require_cache_of(model: Any, case: ExportCase) -> None:
    name = type(model).__name__
    if not hasattr(model, "generate"):
        raise NotApplicableError(f"{name} does not generate")
    if not case.static_cache:
        return
    for flag in ("_can_compile_fullgraph", "_supports_static_cache"):
        if hasattr(model, flag):
            if not getattr(model, flag):
                raise NotApplicableError(f"{name}.{flag} is False: it has no static cache")
            return


def _require_past(decode: Stage, model: Any) -> None:
    held = {name: decode.inputs[name] for name in CACHES if name in decode.inputs}
    if not tensor_leaves(held):
        given = ", ".join(decode.inputs)
        raise NotApplicableError(
            f"generate hands {type(model).__name__} no cache from step to step, only {given}"
        )
