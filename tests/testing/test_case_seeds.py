"""A case's seed is that of the weights and of the inputs, wherever these come from."""

from __future__ import annotations

import unittest
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from testing import tiny
from testing.audit.tiny_host import TinyHost
from testing.mixin import ExportTesterMixin
from testing.subject import Subject
from testing.tester_subject import subject_of_tester


class Linear(torch.nn.Linear):
    """A model that a tester gives."""

    def __init__(self, config: Any) -> None:
        super().__init__(config.size, config.size)


class Tester:
    """In the shape of transformers' own."""

    def prepare_config_and_inputs_for_common(self) -> tuple[Any, dict[str, torch.Tensor]]:
        return SimpleNamespace(size=3), {"input": torch.rand(2, 3)}


def made(seed: int) -> Subject:
    test = SimpleNamespace(model_tester=Tester(), export_seed=seed)
    return subject_of_tester(test, Linear)


def test_a_tester_makes_another_model_and_other_inputs_under_another_seed() -> None:
    one, same, other = made(1), made(1), made(2)
    assert torch.equal(one.model.weight, same.model.weight)
    assert torch.equal(one.inputs.traced()["input"], same.inputs.traced()["input"])
    assert not torch.equal(one.model.weight, other.model.weight)
    assert not torch.equal(one.inputs.traced()["input"], other.inputs.traced()["input"])


class OfTheMixin(ExportTesterMixin, unittest.TestCase):
    all_model_classes = ("BertModel",)
    __test__ = False

    def runTest(self) -> None:  # noqa: N802
        """What unittest asks for."""


@pytest.mark.parametrize("host", [OfTheMixin, TinyHost])
def test_a_tiny_model_is_built_under_the_seed(host: type, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[tuple[str, int]] = []
    monkeypatch.setattr(tiny, "build", lambda name, seed=0: built.append((name, seed)))
    test = host()
    test.subject("BertModel")
    test.export_seed = 2
    test.subject("BertModel")
    assert built == [("BertModel", 0), ("BertModel", 2)]
