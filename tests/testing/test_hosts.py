"""Test classes in the shape of transformers' own take the mixin as it is."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

import pytest

from testing import journal

ROOT = Path(__file__).parents[2]
HOSTS = ROOT / "tests" / "testing" / "hosts"


def generated(test_class: type[unittest.TestCase]) -> list[str]:
    names = unittest.TestLoader().getTestCaseNames(test_class)
    return [name.removeprefix("test_neuron_export_") for name in names if "neuron" in name]


def run_host(host: str, chosen: str, results: Path) -> subprocess.CompletedProcess[str]:
    options = ["-p", "no:hypothesispytest", "-p", "no:cacheprovider", "--slow", "-k", chosen]
    options += ["--backend", "neuron"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", HOSTS / host, *options, "--results", results],
        cwd=ROOT,
        env={**os.environ, "PJRT_DEVICE": "CPU"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_hand_written_tester_gives_its_classes() -> None:
    from tests.testing.hosts.host_bert import BertModelTest

    names = ["ForMultipleChoice", "ForQuestionAnswering", "ForTokenClassification", "Model"]
    assert generated(BertModelTest) == [
        f"{variant}_Bert{name}" for variant in ("dynamic", "static") for name in names
    ]


def test_a_tester_class_with_only_its_base_gives_every_class() -> None:
    from tests.testing.hosts.host_llama import LlamaModelTest

    names = ["ForCausalLM", "ForQuestionAnswering", "ForSequenceClassification"]
    names += ["ForTokenClassification", "Model"]
    assert generated(LlamaModelTest) == [
        f"{variant}_Llama{name}" for variant in ("dynamic", "static") for name in names
    ]


@pytest.mark.parametrize(
    ("host", "chosen", "classes"),
    [
        (
            "host_bert.py",
            "test_model or static",
            {
                "BertModel",
                "BertForTokenClassification",
                "BertForQuestionAnswering",
                "BertForMultipleChoice",
            },
        ),
        ("host_llama.py", "static and LlamaForCausalLM", {"LlamaForCausalLM"}),
    ],
)
def test_the_cases_of_a_host_are_run_and_compared_and_so_are_its_own_tests(
    tmp_path: Path, host: str, chosen: str, classes: set[str]
) -> None:
    ended = run_host(host, chosen, tmp_path)
    results = journal.read(tmp_path)
    assert {result.model_class for result in results} == classes, ended.stdout
    assert {result.outcome.value for result in results} == {"passed"}, ended.stdout
    assert all(result.metrics for result in results)
    own_tests = 1 if host == "host_bert.py" else 0
    assert f" {len(classes) + own_tests} passed" in ended.stdout


@pytest.mark.slow
def test_testers_that_pad_nothing_pass_on_padded_inputs(tmp_path: Path) -> None:
    """Their sdpa reads ``mask.all()`` while it is traced, and drops a mask of ones."""
    ended = run_host("host_unpadded.py", "neuron", tmp_path)
    outcomes = {
        (result.model_class, result.variant): result.outcome.value
        for result in journal.read(tmp_path)
    }
    names = ["BartModel", "BertModel", "GPT2Model", "LlamaModel"]
    every = {(name, variant) for name in names for variant in ("static", "dynamic")}
    assert outcomes == dict.fromkeys(every, "passed"), ended.stdout
