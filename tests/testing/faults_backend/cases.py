"""The 200 cases, as a test class of models has them; pytest runs this file when it is named."""

from __future__ import annotations

import unittest

import pytest
import torch

from testing.mixin import ExportTesterMixin
from testing.subject import Subject
from tests.testing.faults_backend import backend
from tests.testing.faults_backend.plan import CASES, HANG_SECONDS
from tests.testing.faulty_double import FewInputs

__all__ = ["FaultsExportTest", "backend"]


class _Model(torch.nn.Module):
    def __init__(self, named: str) -> None:
        super().__init__()
        self.named = named
        self.weight = torch.nn.Parameter(torch.linspace(-1.0, 1.0, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight


class FaultsExportTest(ExportTesterMixin, unittest.TestCase):
    all_model_classes = tuple(CASES)

    def subject(self, model_class: str) -> Subject:
        return Subject(_Model(model_class), FewInputs())


for _name, _test in list(vars(FaultsExportTest).items()):
    if "Hangs" in _name:
        pytest.mark.timeout(HANG_SECONDS)(_test)
