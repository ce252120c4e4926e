"""Backends that export nothing, and an executor that only looks results up: no torch needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exporters.base import (
    Backend,
    BackendUnavailableError,
    ExportedModel,
    ExportOptions,
    Variant,
)
from testing.results import CaseResult, Outcome
from testing.settings import CaseRequest


class NeuronStub(Backend):
    name = "neuron"
    test_prefix = "neuron"
    variants = (Variant(dynamic=False), Variant(dynamic=True))
    runtimes = ("neuronx", "xla")
    can_crash = True
    distributions = ("pytest",)

    def resolve_runtime(self, requested: str = "auto") -> str | None:
        return "xla" if requested == "auto" else requested

    def patch_names(self) -> tuple[str, ...]:
        return ("weight_norm", "yolos")

    def tolerance(self, runtime: str | None) -> float:
        return 1e-4

    def export(
        self, model: Any, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        raise NotImplementedError


class MissingStub(NeuronStub):
    name = "onnx"
    test_prefix = "onnx"
    runtimes = ()

    def resolve_runtime(self, requested: str = "auto") -> str | None:
        raise BackendUnavailableError("onnx is not installed.", "pip install onnx")


class DelegatesStub(NeuronStub):
    """Of its two delegates only xnnpack is here, and mlx cannot be dynamic."""

    name = "executorch"
    test_prefix = "executorch"
    runtimes = ()
    variants = (
        Variant(dynamic=False, delegate="xnnpack"),
        Variant(dynamic=False, delegate="mlx"),
        Variant(dynamic=True, delegate="mlx"),
    )

    def resolve_runtime(self, requested: str = "auto") -> str | None:
        return None

    def require_delegate(self, delegate: str | None) -> None:
        if delegate == "mlx":
            raise BackendUnavailableError("mlx is not built in.", "pip install mlx")

    def not_applicable(self, variant: Variant) -> str | None:
        is_told = variant.dynamic and variant.delegate == "mlx"
        return "mlx does not grow" if is_told else None


BACKENDS = {
    "neuron": "tests.testing.stubs:NeuronStub",
    "onnx": "tests.testing.stubs:MissingStub",
}

ENDINGS: dict[str, dict[str, Any]] = {
    "YolosModel": {
        "outcome": Outcome.CRASHED,
        "stage": "export",
        "signal": "SIGSEGV",
        "op": "aten::upsample_bicubic2d",
        "operand": "embeddings.position_embeddings",
        "op_source": "guard-rerun",
        "source": "modeling_yolos.py:146",
        "message": "the process died by SIGSEGV in stage 'export' and left no message",
    },
    "BertModel": {
        "outcome": Outcome.FAILED,
        "stage": "compare",
        "message": "last_hidden_state: max abs 1.0e-3 at (0, 1, 2)\nsecond line",
    },
    "GPT2Model": {"outcome": Outcome.TIMEOUT, "stage": "run", "message": "killed at its limit"},
    "CLIPModel": {
        "outcome": Outcome.NOT_APPLICABLE,
        "stage": "eager",
        "message": "logits_per_image: (4, 2) in chunks, (4, 4) on the whole",
    },
    "ViTModel": {"outcome": Outcome.EXPORTED, "stage": "export", "message": "no device"},
    "T5Model": {
        "outcome": Outcome.FAILED,
        "stage": "export",
        "message": "BackendIncompatibleError: toolkit 9 takes no argument 'compiler_args'",
    },
    "BartModel": {
        "outcome": Outcome.FAILED,
        "stage": "export",
        "message": "BackendIncompatibleError: toolkit 9 takes no argument 'compiler_args'",
    },
}
"""How a class ends that does not pass."""

DEATHS: dict[str, int] = {"DeiTModel": 1, "BeitModel": 1}
"""How often a class dies before it ends as it does."""
ENDINGS["BeitModel"] = ENDINGS["BertModel"]

requests: list[CaseRequest] = []
"""What `execute` was asked for."""


def execute(request: CaseRequest) -> CaseResult:
    requests.append(request)
    name = request.case.model_class
    ending = {"outcome": Outcome.PASSED, **ENDINGS.get(name, {})}
    if [one.case_id for one in requests].count(request.case_id) <= DEATHS.get(name, 0):
        ending = ENDINGS["YolosModel"]
    return CaseResult.of(request.case, request.case_id, **ending)
