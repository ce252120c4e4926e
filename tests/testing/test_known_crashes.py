"""The models that kill the process on Neuron SDK 2.27 and later, each in a child of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from testing.cases import ExportCase  # noqa: E402
from testing.execution import execute, runner  # noqa: E402
from testing.registry import Tolerance  # noqa: E402
from testing.results import CaseResult, Outcome  # noqa: E402
from testing.settings import CaseRequest, RunSettings  # noqa: E402

MODELS = Path(__file__).parents[1] / "models"
# Model class: test file and class, signal and op without patches, where.
DYING = {
    "Wav2Vec2Model": (
        "test_audio",
        "Wav2Vec2ExportTest",
        "SIGABRT",
        "aten::_weight_norm_interface",
        "parameter encoder.pos_conv_embed.conv.parametrizations.weight.original",
        "modeling_wav2vec2.py:",
        "weight_norm",
    ),
    "HubertModel": (
        "test_audio",
        "HubertExportTest",
        "SIGABRT",
        "aten::_weight_norm_interface",
        "parameter encoder.pos_conv_embed.conv.parametrizations.weight.original",
        "modeling_hubert.py:",
        "weight_norm",
    ),
    "YolosModel": (
        "test_vision",
        "YolosExportTest",
        "SIGSEGV",
        "aten::upsample_bicubic2d",
        "parameter embeddings.position_embeddings",
        "modeling_yolos.py:",
        "yolos",
    ),
    "ConvBertModel": (
        "test_text_encoders",
        "ConvBertExportTest",
        "SIGSEGV",
        "aten::im2col",
        "derived from parameter",
        "modeling_convbert.py:",
        "convbert",
    ),
}


@pytest.fixture(autouse=True, scope="module")
def _servers() -> Iterator[None]:
    yield
    runner.close_servers()


def run(model_class: str, file: str, test_class: str, patches: str, guard: bool) -> CaseResult:
    case = ExportCase(model_class, None, "neuron", runtime="xla")
    request = CaseRequest(
        case=case,
        case_id=model_class,
        module=f"tests.models.{file}",
        path=str(MODELS / f"{file}.py"),
        test_class=test_class,
        test_method=case.test_name("neuron"),
        tolerance=Tolerance(1e-4, 1e-4),
        settings=RunSettings(trace_patches=patches, lowering_guard=guard),
        guard=guard,
        timeout=300.0,
    )
    return execute(request)


@pytest.mark.parametrize("model_class", DYING)
def test_without_patches_and_guard_it_dies_and_the_op_is_found(model_class: str) -> None:
    file, test_class, signal, op, operand, source, _ = DYING[model_class]
    result = run(model_class, file, test_class, "off", guard=False)
    assert (result.outcome, result.signal, result.stage) == (Outcome.CRASHED, signal, "export")
    assert (result.op, result.op_source) == (op, "guard-rerun")
    assert operand in (result.operand or "")
    assert (result.source or "").startswith(source)
    if signal == "SIGABRT":
        assert "PjRt buffer is null" in (result.message or "")


@pytest.mark.parametrize("model_class", DYING)
def test_without_patches_the_guard_raises_instead(model_class: str) -> None:
    file, test_class, _, op, operand, source, _ = DYING[model_class]
    result = run(model_class, file, test_class, "off", guard=True)
    assert (result.outcome, result.signal, result.stage) == (Outcome.FAILED, None, "export")
    assert (result.op, result.op_source) == (op, "guard")
    assert operand in (result.operand or "")
    assert (result.source or "").startswith(source)


@pytest.mark.parametrize("model_class", DYING)
def test_with_patches_it_matches_eager(model_class: str) -> None:
    file, test_class, *_, patch = DYING[model_class]
    assert_matches(run(model_class, file, test_class, "on", guard=True), [patch])


@pytest.mark.parametrize(("patches", "guard"), [("off", False), ("on", True)])
def test_cvt_needs_none_of_it(patches: str, guard: bool) -> None:
    assert_matches(run("CvtModel", "test_vision", "CvtExportTest", patches, guard), [])


def assert_matches(result: CaseResult, patches: list[str]) -> None:
    assert (result.outcome, result.patches) == (Outcome.PASSED, patches), result.message
    for metrics in result.metrics.values():
        assert metrics.cosine is not None
        assert metrics.cosine >= 0.999999
