"""`benchmarks/reach.py` counts as its page says; it measures and does not read ``skips.py``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from testing.registry import Registry
from testing.registry.entries import Tolerance
from testing.results import CHANGED_FLAG, PROVES_NOTHING, CaseResult, Outcome

FILE = Path(__file__).parents[2] / "benchmarks" / "reach.py"


@pytest.fixture(scope="module")
def reach() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reach", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules["reach"] = module
    spec.loader.exec_module(module)
    return module


def ended(reach: ModuleType, outcome: Outcome, stage: str, **values: Any) -> CaseResult:
    case = reach.request_of("BertModel", reach.WAYS["everything"]).case
    return CaseResult.of(case, "BertModel", outcome, stage=stage, **values)


def test_the_shares_are_of_what_works_in_eager(reach: ModuleType) -> None:
    found = reach.share(
        [
            ended(reach, Outcome.PASSED, "compare"),
            ended(reach, Outcome.PASSED, "compare", message=f"{PROVES_NOTHING}all is empty."),
            ended(reach, Outcome.FAILED, "compare"),
            ended(reach, Outcome.FAILED, "run"),
            ended(reach, Outcome.CRASHED, "export", signal="SIGSEGV"),
            ended(reach, Outcome.FAILED, "export"),
            ended(reach, Outcome.PASSED, "compare", message=f"{CHANGED_FLAG}use_cache."),
        ]
    )
    assert vars(found) == {"classes": 7, "traced": 4, "matched": 2, "changed": 1, "empty": 1}


@pytest.mark.parametrize(
    ("stages", "works"),
    [
        (["prepare", "prepare", "prepare"], False),
        (["eager", "eager", "eager"], False),
        (["export", "export", "compare"], True),
        # One that died before for a reason of its own hides nothing.
        (["prepare", "export", "run"], True),
    ],
)
def test_a_class_works_in_eager_where_a_trace_has_begun(
    stages: list[str], works: bool, reach: ModuleType
) -> None:
    results = [ended(reach, Outcome.FAILED, stage) for stage in stages]
    assert reach.works(results) is works


def test_no_entry_and_no_tolerance_of_the_file_is_used(reach: ModuleType) -> None:
    default = reach.BACKEND.tolerance("xla")
    entries = Registry.load().entries
    named = {entry.model_class for entry in entries}
    for name in sorted(named)[:50]:
        for way in reach.WAYS.values():
            request = reach.request_of(name, way)
            assert request.tolerance == Tolerance(default, default)
            assert request.exactness_reason is None
            assert request.settings.run_skipped


def test_each_way_is_what_it_is_called(reach: ModuleType) -> None:
    settings = {n: reach.request_of("BertModel", w).settings for n, w in reach.WAYS.items()}
    off, upstream, best = settings.values()
    assert (off.trace_patches, off.lowerings) == ("off", "off")
    assert upstream.trace_patches.split(",") == ["weight_norm", "yolos", "convbert"]
    assert upstream.lowerings == "off"
    assert (best.trace_patches, best.lowerings) == ("on", "on")


def test_what_has_no_entry_is_told(reach: ModuleType) -> None:
    left = {"BertModel": ended(reach, Outcome.FAILED, "compare", message="Differs.")}
    assert list(reach.without_entry(left, Registry([]))) == ["BertModel"]
    shares = {way: reach.share([*left.values()]) for way in reach.WAYS}
    told = reach.as_text(shares, left, ["BertModel"])
    assert "not reached with everything: 1, of which 1 have no entry" in told
    assert "no entry: BertModel: failed at compare" in told
