"""Real programs in the greedy loop: the same eight tokens as ``model.generate``.

One small model shows it on torch.export and one on XLA; the table of models takes an hour, and
runs with ``--slow``.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from exporters import get_backend  # noqa: E402
from exporters.base import BackendUnavailableError, Variant  # noqa: E402
from testing import auto_classes, pipeline  # noqa: E402
from testing.cases import ExportCase  # noqa: E402
from testing.registry.entries import Tolerance  # noqa: E402
from testing.results import CaseResult, Outcome  # noqa: E402
from testing.settings import CaseRequest, RunSettings  # noqa: E402
from testing.subject import Subject  # noqa: E402
from testing.tiny import build  # noqa: E402

MODELS = (
    "GPT2LMHeadModel",
    "LlamaForCausalLM",
    "Qwen2ForCausalLM",
    "GemmaForCausalLM",
    "MistralForCausalLM",
    "T5ForConditionalGeneration",
    "BartForConditionalGeneration",
    "WhisperForConditionalGeneration",
)
ON_XLA = ("GPT2LMHeadModel", "LlamaForCausalLM", "T5ForConditionalGeneration")
LOOPING = (
    Variant(dynamic=True, generate=True),
    Variant(dynamic=True, generate=True, static_cache=True),
    Variant(dynamic=False, generate=True, static_cache=True),
)


def drive(backend_name: str, model_class: str, variant: Variant) -> CaseResult:
    """A case of generation as a run has it; skipped where the backend cannot run."""
    backend = get_backend(backend_name)
    case = ExportCase.of(model_class, auto_classes.model_type_of(model_class), backend, variant)
    try:
        backend.require_generation()
        runtime = backend.resolve_runtime("xla" if backend_name == "neuron" else "auto")
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    default = backend.tolerance(runtime)
    request = CaseRequest(
        case, "id", "m", "/m.py", "T", "t", Tolerance(default, default), RunSettings()
    )
    return pipeline.run(request, lambda: tiny(model_class), lambda stage: None, backend)


def tiny(model_class: str) -> Subject:
    """A tiny model with the first two families of its inputs, each of which is generated on."""
    subject = build(model_class)
    subject.inputs.families = subject.inputs.families[:2]
    return subject


def assert_same_tokens(result: CaseResult) -> None:
    told = {part.component: (part.outcome, part.message) for part in result.components}
    assert told, result.message
    assert {outcome for outcome, _ in told.values()} == {Outcome.PASSED}, told
    greedy = result.components[-1]
    assert greedy.component == "greedy"
    assert greedy.metrics["tokens"].max_abs == 0
    assert "logits.7" in greedy.metrics


def test_torch_export_gives_the_tokens_of_llama() -> None:
    assert_same_tokens(drive("dynamo", "LlamaForCausalLM", LOOPING[-1]))


@pytest.mark.parametrize("model_class", ON_XLA[:1])
def test_xla_gives_the_tokens_of_gpt2(model_class: str) -> None:
    assert_same_tokens(drive("neuron", model_class, LOOPING[-1]))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("model_class", ON_XLA[1:])
def test_and_of_others(model_class: str) -> None:
    assert_same_tokens(drive("neuron", model_class, LOOPING[-1]))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("backend", ["dynamo", "onnx", "openvino"])
@pytest.mark.parametrize("variant", LOOPING, ids=str)
@pytest.mark.parametrize("model_class", MODELS)
def test_every_backend_gives_the_tokens_of_generate(
    model_class: str, variant: Variant, backend: str
) -> None:
    assert_same_tokens(drive(backend, model_class, variant))
