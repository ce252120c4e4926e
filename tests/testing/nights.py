"""Results of a made-up night: rows as the sweep writes them, and as many as it has cases."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from testing import released
from testing.journal import Journal
from testing.results import CaseResult, LeafMetrics, Outcome

VERSIONS = {
    "python": "3.11.7",
    "torch": "2.9.1",
    "torch-xla": "2.9.0",
    "transformers": "4.57.6",
    "optimum": "2.3.0",
}
_OPS = ("aten::upsample_bicubic2d", "aten::as_strided", "aten::unfold", "aten::_fft_r2c")


def row(
    model_class: str = "BertModel",
    outcome: Outcome | str = Outcome.PASSED,
    model_type: str = "bert",
    area: str = "text_encoders",
    **values: Any,
) -> CaseResult:
    """A result with what most have."""
    facts: dict[str, Any] = {
        "backend": "neuron",
        "runtime": "xla",
        "variant": "static",
        "generate": False,
        "static_cache": False,
        "versions": VERSIONS,
        "seconds": {"prepare": 0.1, "eager": 0.4, "export": 1.0, "run": 0.5, "compare": 0.02},
        **values,
    }
    test = f"test_neuron_export_{facts['variant']}_{model_class}"
    case_id = f"tests/models/test_{area}.py::{model_class}ExportTest::{test}"
    facts.setdefault("case_id", case_id)
    return CaseResult(
        model_class=model_class, model_type=model_type, outcome=Outcome(outcome), **facts
    )


def passing(max_abs: float = 1e-6, used: float | None = 0.01, **values: Any) -> CaseResult:
    """A pass with the figures of one output."""
    metrics = {"logits": LeafMetrics(max_abs, max_abs * 10, 0.999999, 0.999998, 0.0, used)}
    return row(metrics=metrics, **values)


def crash(model_class: str = "YolosModel", op: str = _OPS[0], **values: Any) -> CaseResult:
    """A process that died while tracing."""
    facts = {
        "model_type": "yolos",
        "stage": "export",
        "signal": "SIGSEGV",
        "exit_code": 139,
        "op": op,
        "operand": "embeddings.position_embeddings",
        "op_source": "guard-rerun",
        "source": "modeling_yolos.py:146",
        "message": "the process died by SIGSEGV in stage 'export' and left no message",
        **values,
    }
    return row(model_class, Outcome.CRASHED, **facts)


def write(directory: Path, results: Iterable[CaseResult], worker: str | None = None) -> Path:
    """A results directory."""
    journal = Journal(directory, worker)
    for result in results:
        journal.append(result)
    return directory


def night(cases: int, seed: int = 0) -> Iterator[CaseResult]:
    """Results of that many cases of real model classes, most of which pass."""
    chance = random.Random(seed)
    classes = [
        (kind, name)
        for kind, names in released.classes_by_type("4.57.6").items()
        for name in names
    ]
    for number in range(cases):
        kind, name = classes[number // 2 % len(classes)]
        area = f"area_{len(kind) % 9}"
        variant = ("static", "dynamic")[number % 2]
        yield _one(chance, model_class=name, model_type=kind, area=area, variant=variant)


def _one(chance: random.Random, **case: Any) -> CaseResult:
    case["seconds"] = {
        stage: round(chance.expovariate(1) * most, 4)
        for stage, most in {"prepare": 0.2, "eager": 0.5, "export": 1.5, "run": 1.0}.items()
    }
    case["peak_rss_mb"] = round(chance.uniform(600, 2000), 1)
    drawn = chance.random()
    if drawn < 0.01:
        return crash(op=chance.choice(_OPS), **case)
    if drawn < 0.03:
        return row(outcome="failed", stage="compare", **_off(chance), **case)
    if drawn < 0.033:
        told = "killed at its limit of 1000 s in stage 'export'"
        return row(outcome="timeout", stage="export", message=told, **case)
    if drawn < 0.10:
        reason = f"`{chance.choice(_OPS)}` has no lowering: SIGSEGV in the trace. " * 2
        return row(outcome="skipped", scope="neuron", reason=reason, **case)
    if drawn < 0.15:
        told = "Eager in chunks of 2, batch size 1 (inputs `noise`), is not eager on the whole."
        return row(outcome="not_applicable", stage="compare", message=told, **case)
    note = "Note: `logits`: positions that the inputs' mask leaves out are not compared."
    return row(message=note, patches=["weight_norm"], **_leaves(chance, 1e-6), **case)


def _off(chance: random.Random) -> dict[str, Any]:
    told = (
        f"Agrees with eager on the traced inputs and not on fresh ones: a value was baked in "
        f"while tracing, by aten::item of {chance.choice('xyz')} at modeling_x.py:77.\n"
        f"On fresh inputs `noise`: `logits` differs at [0, {chance.randrange(9)}]: "
        f"{chance.random()} where eager has {chance.random()}."
    )
    return {"message": told, **_leaves(chance, 1e-2)}


def _leaves(chance: random.Random, scale: float) -> dict[str, Any]:
    names = ["last_hidden_state", "pooler_output", "past_key_values.0.0", "hidden_states.1"]
    metrics = {}
    for name in names[: chance.choice([1, 1, 1, 2, 2, 4])]:
        error = scale * math.exp(chance.gauss(0, 2))
        used = min(error / 1e-4, 0.97) if scale < 1e-3 else error / 1e-4
        metrics[name] = LeafMetrics(
            error, error * 7.3, 1 - error**2, 1 - error**2, 0.0 if scale < 1e-3 else 0.4, used
        )
    return {"metrics": metrics}
