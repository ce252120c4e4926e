"""The components of a case of generation: what is exported, and what it receives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from exporters.base import Backend
from exporters.tree import tensor_leaves
from testing.cases import ExportCase
from testing.generation.loop import Loop
from testing.generation.prompts import Prompts
from testing.generation.settings import NEW_TOKENS, without_end
from testing.generation.stages import DECODE, Stage, stages_of
from testing.generation.weights import distinguish
from testing.inputs.captured import CapturedInputs
from testing.not_applicable import NotApplicableError
from testing.pipeline.parts import Part
from testing.subject import Subject

__all__ = ["parts_of", "stages_of_case"]

_CACHES = ("cache", "past_key_values", "cache_params")


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
    prompts = Prompts(subject.inputs, subject.model)
    if not subject.is_trained:
        distinguish(Loop(subject.model, prompts.to_loop(), case.static_cache, NEW_TOKENS))
    stages = stages_of_case(subject.model, prompts.traced(), case)
    _require_past(stages[DECODE], subject.model)
    return [
        Part(name, _component(subject, prompts, case, name, stage))
        for name, stage in stages.items()
    ]


def stages_of_case(model: Any, prompt: dict[str, Any], case: ExportCase) -> dict[str, Stage]:
    """The stages as a case exports them.

    A step of one token is traced with an axis of size 1, which no trace can leave open, so that
    dynamic shapes get a step of several.
    """
    return stages_of(model, prompt, case.static_cache, multi_token=case.dynamic)


def _component(
    subject: Subject, prompts: Prompts, case: ExportCase, name: str, stage: Stage
) -> Subject:
    def capture(prompt: dict[str, Any]) -> dict[str, Any]:
        return stages_of_case(subject.model, prompt, case)[name].inputs

    received: Callable[[dict[str, Any]], dict[str, Any]] = capture
    return replace(subject, model=stage.module, inputs=CapturedInputs(prompts, received))


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
    held = {name: decode.inputs[name] for name in _CACHES if name in decode.inputs}
    if not tensor_leaves(held):
        given = ", ".join(decode.inputs)
        raise NotApplicableError(
            f"generate hands {type(model).__name__} no cache from step to step, only {given}"
        )
