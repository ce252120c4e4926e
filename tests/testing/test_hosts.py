"""Test classes in the shape of transformers' own take the mixin as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testing import journal

ROOT = Path(__file__).parents[2]
HOSTS = ROOT / "tests" / "testing" / "hosts"


def run(host: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:hypothesispytest", "-p"]
    return subprocess.run(
        [*command, "no:cacheprovider", str(HOSTS / host), "--backend", "neuron", *options],
        cwd=ROOT,
        env={**os.environ, "PJRT_DEVICE": "CPU"},
        capture_output=True,
        text=True,
        check=False,
    )


def collected(host: str) -> list[str]:
    lines = run(host, "--collect-only", "-q").stdout.splitlines()
    return [line.rpartition("::")[2] for line in lines if "::" in line]


@pytest.mark.slow
def test_a_hand_written_tester_gives_its_classes() -> None:
    assert collected("host_bert.py") == [
        "test_model",
        "test_neuron_export_dynamic_BertForMultipleChoice",
        "test_neuron_export_dynamic_BertForQuestionAnswering",
        "test_neuron_export_dynamic_BertForTokenClassification",
        "test_neuron_export_dynamic_BertModel",
        "test_neuron_export_static_BertForMultipleChoice",
        "test_neuron_export_static_BertForQuestionAnswering",
        "test_neuron_export_static_BertForTokenClassification",
        "test_neuron_export_static_BertModel",
    ]


@pytest.mark.slow
def test_a_tester_class_with_only_its_base_gives_every_class() -> None:
    names = ["ForCausalLM", "ForQuestionAnswering", "ForSequenceClassification"]
    names += ["ForTokenClassification", "Model"]
    assert collected("host_llama.py") == [
        f"test_neuron_export_{variant}_Llama{name}"
        for variant in ("dynamic", "static")
        for name in names
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "chosen", "classes"),
    [
        (
            "host_bert.py",
            "static and (BertModel or TokenClassification or MultipleChoice)",
            {"BertModel", "BertForTokenClassification", "BertForMultipleChoice"},
        ),
        ("host_llama.py", "LlamaForCausalLM and static", {"LlamaForCausalLM"}),
    ],
)
def test_the_hosts_cases_are_run_and_compared(
    tmp_path: Path, host: str, chosen: str, classes: set[str]
) -> None:
    ended = run(host, "--slow", "-k", chosen, "--results", str(tmp_path))
    results = journal.read(tmp_path)
    assert {result.model_class for result in results} == classes, ended.stdout
    assert {result.outcome.value for result in results} == {"passed"}, ended.stdout
    assert all(result.metrics for result in results)


@pytest.mark.slow
def test_the_hosts_own_tests_still_run_with_setup() -> None:
    assert "1 passed" in run("host_bert.py", "-k", "test_model").stdout
