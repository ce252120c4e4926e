"""What of a model is exported by itself: all of it, its components, or the steps of generation."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch

from exporters.base import Backend
from testing.cases import ExportCase
from testing.inputs.captured import CapturedInputs
from testing.subject import Subject

__all__ = ["Part", "parts_of"]


@dataclass(frozen=True)
class Part:
    """One program of a case.

    Attributes:
        name: Name of the component, such as ``language_model``; None where it is the whole model.
        subject: What is exported, and what it receives.
    """

    name: str | None
    subject: Subject


def parts_of(subject: Subject, case: ExportCase, backend: Backend) -> list[Part]:
    """The parts of a case, one nameless one where the whole model is one program.

    Args:
        subject: The whole model, normalised.
        case: The case.
        backend: Its backend.
    """
    if case.generate:
        from testing import generation

        return generation.parts_of(subject, case, backend)
    if backend.decomposes and _is_multimodal(subject.model):
        return _components(subject)
    return [Part(None, subject)]


def _is_multimodal(model: torch.nn.Module) -> bool:
    """Whether transformers takes a model apart; releases without exporters do not."""
    if not hasattr(model, "config") or find_spec("transformers.exporters") is None:
        return False
    utils: Any = import_module("transformers.exporters.utils")
    return bool(utils.is_multimodal(model))


def _components(subject: Subject) -> list[Part]:
    utils: Any = import_module("transformers.exporters.utils")
    found: dict[str, tuple[torch.nn.Module, Any]] = utils.decompose_multimodal(
        subject.model, subject.inputs.traced()
    )
    return [
        Part(name, _component(subject, module, _capture(subject.model, name)))
        for name, (module, _) in found.items()
    ]


def _component(
    subject: Subject,
    module: torch.nn.Module,
    capture: Callable[[dict[str, Any]], dict[str, Any]],
) -> Subject:
    kept = _not_none_by_default(module)

    def given(inputs: dict[str, Any]) -> dict[str, Any]:
        received = capture(inputs)
        return {n: v for n, v in received.items() if v is not None or n in kept}

    return replace(subject, model=module, inputs=CapturedInputs(subject.inputs, given))


def _capture(model: torch.nn.Module, name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def capture(inputs: dict[str, Any]) -> dict[str, Any]:
        utils: Any = import_module("transformers.exporters.utils")
        try:
            received: dict[str, Any] = utils.decompose_multimodal(model, inputs)[name][1]
        except RuntimeError as error:
            # What the model itself raised says more than that it could not be taken apart.
            raise error.__cause__ or error from None
        return received

    return capture


def _not_none_by_default(module: torch.nn.Module) -> set[str]:
    """Arguments of a forward to which None says something."""
    parameters = inspect.signature(module.forward).parameters.values()
    return {parameter.name for parameter in parameters if parameter.default is not None}
