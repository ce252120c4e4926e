"""The guard refuses what dies without it, and leaves the graph of all else as it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from exporters.neuron import NeuronBackend  # noqa: E402
from testing.isolation import ChildReport, Ending, ForkServer, Task  # noqa: E402
from testing.registry import Registry  # noqa: E402
from tests.exporters.graph_targets import REFUSED  # noqa: E402
from tests.swept import sampled_classes  # noqa: E402

FAST = ("BertModel", "CvtModel", "LlamaForCausalLM", "T5Model", "YolosModel")
"""One of each kind in every run of the tests; the others are slow together."""
LISTED = {entry.model_class for entry in Registry.load().entries}
"""Classes that skips.py knows not to work: only they may raise something else."""


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    return [] if name in FAST else [pytest.mark.slow]


ALL = [
    pytest.param(name, marks=marks_of(name)) for name in dict.fromkeys((*FAST, *sampled_classes()))
]


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    backend = NeuronBackend()
    preload = (*backend.preload, "testing.tiny.builder", "transformers.testing_utils")
    with ForkServer(preload, backend.environment("xla")) as server:
        yield server


@pytest.mark.parametrize("model_class", ALL)
def test_the_graph_is_the_same_with_the_guard(server: ForkServer, model_class: str) -> None:
    report = traced(server, model_class)
    if report.stage == REFUSED:
        assert report.ending is Ending.SIGNALED, report
        return
    if report.ending is Ending.ERROR and model_class in LISTED:
        return
    if report.error and report.error.kind in ("ImpossibleModelError", "MissingPackageError"):
        pytest.skip(report.error.message)
    assert report.ending is Ending.RESULT, report
    guarded, unguarded = report.result
    assert guarded == unguarded
    assert "ENTRY" in guarded


def traced(server: ForkServer, model_class: str) -> ChildReport:
    task = Task("tests.exporters.graph_targets:texts", {"model_class": model_class}, timeout=300)
    return server.run(task)
