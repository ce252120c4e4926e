"""A model that a double exports in two components, of which one may end the process."""

from __future__ import annotations

import functools
import os
import unittest
from collections.abc import Callable, Mapping
from typing import Any, ClassVar
from unittest import mock

import torch
from torch import nn

import exporters
from exporters.base import ExportedModel, ExportOptions
from testing.cases import ExportCase
from testing.inputs.captured import CapturedInputs
from testing.pipeline import case as pipeline_case
from testing.pipeline.parts import Part
from testing.subject import Subject
from tests.testing.faulty_double import FaultyDouble, FewInputs, Unchanged

# As a module of hosts, which a fixture loads and forgets, and not where tests import a part of it:
# that happens when they are collected, and other tests would meet the backend.
if __name__ == "component_hosts":
    exporters.BACKENDS["parted"] = f"{__name__}:PartedDouble"


class Pair(nn.Module):
    """An encoder whose output a head takes."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.encoder, self.head = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.encoder(x).tanh())


def received(model: nn.Module, name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What a part of `model` gets when all of it runs."""

    def capture(inputs: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        hook = model.get_submodule(name).register_forward_pre_hook(
            lambda module, args: found.update(input=args[0].detach().clone())
        )
        with hook, torch.no_grad():
            model(**inputs)
        return found

    return capture


def parts_of(subject: Subject, case: Any, backend: Any) -> list[Part]:
    """Stands in for what takes multimodal models apart: one part for each child."""
    model = subject.model
    return [
        Part(name, Subject(part, CapturedInputs(subject.inputs, received(model, name))))
        for name, part in model.named_children()
    ]


class PartedDouble(FaultyDouble):
    """Dies of the head where the model says so."""

    name = "parted"
    test_prefix = "parted"

    def export(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        if model.out_features == 2 and os.environ.get("PARTED") == "dies":
            os.abort()
        if model.out_features == 2 and os.environ.get("PARTED") == "hangs":
            while True:
                functools.reduce(max, range(1000))
        return Unchanged(model)


class Dying(unittest.TestCase):
    """Its child runs the parts of this module, and dies of one."""

    how: ClassVar[str] = "dies"
    export_seed = 0

    def setUp(self) -> None:
        self.enterContext(mock.patch.object(pipeline_case, "parts_of", parts_of))
        self.enterContext(mock.patch.dict(os.environ, PARTED=self.how))

    def test_it(self) -> None:
        raise AssertionError("the child does not run the test method")

    def subject_of(self, case: ExportCase) -> Subject:
        return self.subject(case.model_class)

    def subject(self, model_class: str) -> Subject:
        return Subject(Pair(), FewInputs())


class Hanging(Dying):
    how = "hangs"


class Well(Dying):
    how = "well"
