"""The models that kill the process on Neuron SDK 2.27 and later, each in a child of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from testing import journal  # noqa: E402
from testing.cases import ExportCase  # noqa: E402
from testing.execution import execute, runner  # noqa: E402
from testing.registry import Tolerance  # noqa: E402
from testing.results import CaseResult, Outcome  # noqa: E402
from testing.settings import CaseRequest, RunSettings  # noqa: E402

ROOT = Path(__file__).parents[2]


class Dying(NamedTuple):
    """Where a model dies without patches, and which patch saves it."""

    file: str
    test_class: str
    signal: str
    op: str
    operand: str
    source: str
    patch: str

    @property
    def lowering(self) -> str:
        """What is applied where patches are off."""
        name = self.op.removeprefix("aten::")
        return f"fold:{name}" if self.operand.startswith("parameter") else name


def weight_normed(test_class: str, source: str) -> Dying:
    operand = "parameter encoder.pos_conv_embed.conv.parametrizations.weight.original"
    op = "aten::_weight_norm_interface"
    return Dying("test_audio", test_class, "SIGABRT", op, operand, source, "weight_norm")


DYING = {
    "Wav2Vec2Model": weight_normed("Wav2Vec2ExportTest", "modeling_wav2vec2.py:"),
    "HubertModel": weight_normed("HubertExportTest", "modeling_hubert.py:"),
    "YolosModel": Dying(
        "test_vision",
        "YolosExportTest",
        "SIGSEGV",
        "aten::upsample_bicubic2d",
        "parameter embeddings.position_embeddings",
        "modeling_yolos.py:",
        "yolos",
    ),
    "ConvBertModel": Dying(
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


def run(
    model_class: str,
    file: str,
    test_class: str,
    patches: str,
    guard: bool,
    lowerings: str = "off",
) -> CaseResult:
    case = ExportCase(model_class, None, "neuron", runtime="xla")
    request = CaseRequest(
        case=case,
        case_id=model_class,
        module=f"tests.models.{file}",
        path=str(ROOT / "tests" / "models" / f"{file}.py"),
        test_class=test_class,
        test_method=case.test_name("neuron"),
        tolerance=Tolerance(1e-4, 1e-4),
        settings=RunSettings(trace_patches=patches, lowerings=lowerings, lowering_guard=guard),
        guard=guard,
        timeout=300.0,
    )
    return execute(request)


@pytest.mark.parametrize("model_class", DYING)
def test_without_patches_and_guard_it_dies_and_the_op_is_found(model_class: str) -> None:
    dying = DYING[model_class]
    result = run(model_class, dying.file, dying.test_class, "off", guard=False)
    assert (result.outcome, result.signal) == (Outcome.CRASHED, dying.signal)
    assert_names_the_op(result, dying, "guard-rerun")
    if dying.signal == "SIGABRT":
        assert "PjRt buffer is null" in (result.message or "")


@pytest.mark.parametrize("model_class", DYING)
def test_without_patches_the_guard_raises_instead(model_class: str) -> None:
    dying = DYING[model_class]
    result = run(model_class, dying.file, dying.test_class, "off", guard=True)
    assert (result.outcome, result.signal) == (Outcome.FAILED, None)
    assert_names_the_op(result, dying, "guard")


def assert_names_the_op(result: CaseResult, dying: Dying, op_source: str) -> None:
    assert (result.stage, result.op, result.op_source) == ("export", dying.op, op_source)
    assert dying.operand in (result.operand or "")
    assert (result.source or "").startswith(dying.source)


@pytest.mark.parametrize("model_class", DYING)
def test_with_patches_it_matches_eager(model_class: str) -> None:
    dying = DYING[model_class]
    result = run(model_class, dying.file, dying.test_class, "on", guard=True)
    assert_matches(result, [dying.patch])


@pytest.mark.parametrize("guard", [False, True], ids=["unguarded", "guarded"])
@pytest.mark.parametrize("model_class", DYING)
def test_with_lowerings_alone_it_matches_eager(model_class: str, guard: bool) -> None:
    dying = DYING[model_class]
    result = run(model_class, dying.file, dying.test_class, "off", guard, "on")
    assert_matches(result, [])
    assert result.lowerings == [dying.lowering]


@pytest.mark.parametrize(("patches", "guard"), [("off", False), ("on", True)])
def test_cvt_needs_none_of_it(patches: str, guard: bool) -> None:
    assert_matches(run("CvtModel", "test_vision", "CvtExportTest", patches, guard), [])


def assert_matches(result: CaseResult, patches: list[str]) -> None:
    assert (result.outcome, result.patches) == (Outcome.PASSED, patches), result.message
    for metrics in result.metrics.values():
        assert metrics.cosine is not None
        assert metrics.cosine >= 0.999999


@pytest.mark.slow
def test_a_run_in_which_a_model_dies_goes_on_to_its_end(tmp_path: Path) -> None:
    ended = pytest_on_models("static and (CvtModel or YolosModel)", tmp_path)
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED, ended.stdout + ended.stderr
    assert "1 failed, 1 passed" in ended.stdout.splitlines()[-1]
    found = {result.model_class: result for result in journal.read(tmp_path)}
    assert sorted(found) == ["CvtModel", "YolosModel"]
    assert found["CvtModel"].outcome is Outcome.PASSED
    yolos = found["YolosModel"]
    assert (yolos.outcome, yolos.signal) == (Outcome.CRASHED, "SIGSEGV")
    assert_names_the_op(yolos, DYING["YolosModel"], "guard-rerun")


def pytest_on_models(chosen: str, results: Path) -> subprocess.CompletedProcess[str]:
    """Run pytest as a user would, without patches and guard."""
    command = [sys.executable, "-m", "pytest", "tests/models", "--slow", "--backend", "neuron"]
    command += ["--trace-patches", "off", "--lowerings", "off", "--lowering-guard", "off"]
    command += ["-k", chosen]
    command += ["--results", str(results), "-p", "no:cacheprovider"]
    # This test may run in a worker itself, and its name is not that of the inner run.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
