"""Which tests of generation a class is given, and what the process of a case makes of them."""

from __future__ import annotations

import subprocess
import sys
import unittest
from typing import Any

import pytest

import exporters
from exporters.base import BackendUnavailableError
from exporters.dynamo import DynamoBackend
from testing import auto_classes, session
from testing.cases import ExportCase, cases_of
from testing.mixin import ExportGenerateTesterMixin, ExportTesterMixin, export_case_of
from testing.model_classes import generative_classes
from testing.results import Outcome
from testing.session import Planned, Session
from testing.settings import RunSettings


@pytest.fixture(autouse=True)
def _one_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(exporters.BACKENDS):
        monkeypatch.delitem(exporters.BACKENDS, name)
    monkeypatch.setitem(exporters.BACKENDS, "dynamo", "exporters.dynamo:DynamoBackend")


def made(*bases: type, **attributes: Any) -> type:
    parents = bases or (ExportGenerateTesterMixin, unittest.TestCase)
    return type("MadeTest", parents, {"__module__": __name__, **attributes})


def generated(test_class: type) -> list[str]:
    return unittest.TestLoader().getTestCaseNames(test_class)


OF_LLAMA = [
    "test_torch_export_generate_dynamic_LlamaForCausalLM",
    "test_torch_export_generate_dynamic_static_cache_LlamaForCausalLM",
    "test_torch_export_generate_static_LlamaForCausalLM",
    "test_torch_export_generate_static_static_cache_LlamaForCausalLM",
]


def test_named_classes_give_a_test_for_each_variant_of_generation() -> None:
    assert generated(made(all_generative_model_classes=("LlamaForCausalLM",))) == OF_LLAMA


def test_by_default_they_are_the_other_classes_that_generate() -> None:
    test_class = made(all_model_classes=("LlamaModel", "LlamaForCausalLM"))
    assert generated(test_class) == OF_LLAMA


def test_both_mixins_stand_in_one_class() -> None:
    test_class = made(
        ExportTesterMixin,
        ExportGenerateTesterMixin,
        unittest.TestCase,
        all_model_classes=("LlamaModel", "LlamaForCausalLM"),
    )
    assert sorted(set(generated(test_class)) - set(OF_LLAMA)) == [
        "test_torch_export_dynamic_LlamaForCausalLM",
        "test_torch_export_dynamic_LlamaModel",
        "test_torch_export_static_LlamaForCausalLM",
        "test_torch_export_static_LlamaModel",
    ]
    assert set(OF_LLAMA) < set(generated(test_class))


def test_a_test_knows_its_case_and_has_its_markers() -> None:
    test = made(all_generative_model_classes=("LlamaForCausalLM",))(OF_LLAMA[1])
    assert export_case_of(test) == ExportCase(
        "LlamaForCausalLM", "llama", "dynamo", dynamic=True, generate=True, static_cache=True
    )
    marks = {mark.name for mark in getattr(type(test), OF_LLAMA[1]).pytestmark}
    assert marks == {"slow", "torch_export_test", "generate"}


def test_a_class_of_which_none_generates_says_so() -> None:
    assert generated(made(all_model_classes=("BertModel",))) == ["test_export"]


def test_the_empty_default_of_transformers_own_mixin_names_nothing() -> None:
    theirs = type("GenerationTesterMixin", (), {"all_generative_model_classes": ()})
    test_class = made(
        ExportGenerateTesterMixin,
        theirs,
        unittest.TestCase,
        all_model_classes=("GPT2LMHeadModel",),
    )
    assert [model.name for model in generative_classes(test_class)] == ["GPT2LMHeadModel"]


def test_an_empty_one_of_a_test_class_is_meant() -> None:
    test_class = made(all_model_classes=("GPT2LMHeadModel",), all_generative_model_classes=())
    assert generative_classes(test_class) == ()


def test_classes_that_generate_are_known_without_transformers() -> None:
    code = (
        "import sys; from testing import auto_classes\n"
        "names = auto_classes.generative_classes()\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)\n"
        "print(*sorted(names & {'BertModel', 'LlamaForCausalLM', 'T5ForConditionalGeneration',"
        " 'WhisperForConditionalGeneration', 'Qwen2VLForConditionalGeneration'}))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == [
        "LlamaForCausalLM",
        "Qwen2VLForConditionalGeneration",
        "T5ForConditionalGeneration",
        "WhisperForConditionalGeneration",
    ]


def test_cases_of_generation_are_those_of_classes_that_generate() -> None:
    assert not any(case.generate for case in cases_of("LlamaModel"))
    assert sum(case.generate for case in cases_of("LlamaForCausalLM")) == 4
    assert "LlamaForCausalLM" in auto_classes.generative_classes()


def test_where_generation_cannot_be_exported_it_is_skipped_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(self: DynamoBackend) -> None:
        raise BackendUnavailableError("too old.", "pip install newer")

    monkeypatch.setattr(DynamoBackend, "require_exporters", refuse)
    variant = next(v for v in DynamoBackend.variants if v.generate)
    case = ExportCase.of("LlamaForCausalLM", "llama", DynamoBackend(), variant)
    test = session.TestMethod("module", "module.py", "LlamaExportTest", "test")
    result = Session(RunSettings(slow=True)).result_of(Planned(case, "id", test))
    assert result.outcome is Outcome.SKIPPED
    assert result.reason == "too old. Install it with: pip install newer"


class _Tester:
    """A tester in the shape of transformers' own."""

    def __init__(self, config: Any, inputs: dict[str, Any]) -> None:
        self.given = config, inputs

    def prepare_config_and_inputs_for_common(self) -> tuple[Any, dict[str, Any]]:
        return self.given

    def prepare_config_and_inputs_for_generate(self) -> tuple[Any, dict[str, Any]]:
        config, inputs = self.given
        return config, {"input_ids": inputs["input_ids"][:2]}


def test_a_tester_prepares_what_is_generated_with_and_the_other_cases_keep_theirs() -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(vocab_size=50, n_embd=16, n_layer=1, n_head=2, n_positions=40)
    inputs = {"input_ids": torch.arange(20).view(4, 5), "attention_mask": torch.ones(4, 5)}
    test_class = made(all_generative_model_classes=(transformers.GPT2LMHeadModel,))
    test: Any = test_class("test_torch_export_generate_static_GPT2LMHeadModel")
    test.model_tester = _Tester(config, inputs)
    case = export_case_of(test)
    assert case is not None
    to_generate = test.subject_of(case).inputs
    assert to_generate.batch_size == 2
    assert list(to_generate.traced()) == ["input_ids"]
    forward = ExportCase("GPT2LMHeadModel", "gpt2", "dynamo")
    assert test.subject_of(forward).inputs.batch_size == 4
