"""`export-harness patches`: which models a patch may be for, and which still need it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import exporters
from exporters.base import BackendUnavailableError, Selection
from testing import cli
from testing.audit.journal import Key
from testing.audit.settings import AuditSettings
from testing.isolation import ChildError, ChildReport, Ending
from testing.patches import inspecting, report
from testing.patches.applicable import models_of
from testing.patches.auditing import (
    PatchedModel,
    PatchRequest,
    PatchVerdict,
    audit_patches,
    unused,
)
from testing.patches.inspecting import Inspection, inspection_of
from testing.results import CaseResult, Outcome
from testing.settings import CaseRequest
from tests.testing import stubs

YOLOS = SimpleNamespace(
    name="yolos",
    summary="Interpolated before.",
    issue="an/issue#1",
    model_types=("yolos",),
    mentions=(),
    tolerance=0.0,
    problems=list,
)
OTHER = SimpleNamespace(**{**vars(YOLOS), "name": "other", "model_types": ("cvt",)})
INERT = Inspection(applied=True, max_abs=0.0)
PASSED = Outcome.PASSED
DIED = {"outcome": Outcome.CRASHED, "stage": "export", "signal": "SIGSEGV"}


class PatchedStub(stubs.NeuronStub):
    """A backend with two patches, of which one changes what a model computes."""

    def patches(self) -> Any:
        return YOLOS, OTHER

    def patch_names(self) -> tuple[str, ...]:
        return "yolos", "other"

    @contextmanager
    def patched(
        self, model: Any, inputs: Mapping[str, Any], selection: Selection
    ) -> Iterator[tuple[str, ...]]:
        (name,) = selection.names
        model.factor = 2.0 if name == "other" else 1.0
        yield (name,)
        model.factor = 1.0


class MissingStub(PatchedStub):
    def resolve_runtime(self, requested: str = "auto") -> str | None:
        raise BackendUnavailableError("not installed.", "pip install x")


@pytest.fixture(autouse=True)
def _backends(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(exporters.BACKENDS):
        monkeypatch.delitem(exporters.BACKENDS, name)
    monkeypatch.setitem(exporters.BACKENDS, "neuron", f"{__name__}:PatchedStub")
    # Somebody may edit the code between two audits of a test.
    monkeypatch.setattr(Key, "here", lambda tests: Key({}, "0123"))


class Bench:
    """How inspections and cases end."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.requests: list[CaseRequest] = []
        self.inspection = INERT
        self.ending: Any = lambda request: DIED

    def inspect(self, *asked: Any) -> Inspection:
        return self.inspection

    def execute(self, request: CaseRequest) -> CaseResult:
        self.requests.append(request)
        return CaseResult.of(request.case, request.case_id, **self.ending(request))

    def audit(self, **values: Any) -> tuple[PatchedModel, ...]:
        asked = {"patches": ("yolos",), "model_classes": ("YolosModel",), **values}
        request = PatchRequest(directory=self.directory, **asked)
        return audit_patches(request, self.inspect, self.execute)

    def only(self) -> PatchedModel:
        (found,) = self.audit()
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


class TestModels:
    def test_of_a_patch_for_model_types_are_their_classes(self) -> None:
        assert models_of(YOLOS) == ("YolosForObjectDetection", "YolosModel")

    def test_of_one_for_any_model_are_those_whose_code_has_its_words(self) -> None:
        anything = SimpleNamespace(
            **{**vars(YOLOS), "model_types": (), "mentions": ("weight_norm",)}
        )
        assert {"Wav2Vec2Model", "HubertModel"} <= set(models_of(anything))
        assert "BertModel" not in models_of(anything)


class TestVerdicts:
    def test_what_dies_without_the_patch_needs_it(self, bench: Bench) -> None:
        found = bench.only()
        assert (found.verdict, found.is_finding) == (PatchVerdict.NEEDED, False)
        assert "failed 3 of 3: crashed at export · SIGSEGV" in found.message

    def test_what_passes_without_it_does_not(self, bench: Bench) -> None:
        bench.ending = lambda request: {"outcome": Outcome.PASSED}
        assert bench.only().verdict is PatchVerdict.NOT_NEEDED

    def test_a_patch_that_no_model_needs_is_a_finding(self, bench: Bench) -> None:
        request = PatchRequest(patches=("yolos",), model_classes=("YolosModel",))
        bench.ending = lambda request: {"outcome": Outcome.PASSED}
        without = bench.audit()
        assert unused(request, without) == ("yolos",)
        needing = PatchedModel("neuron", "yolos", "A", PatchVerdict.NEEDED, "", INERT)
        assert unused(request, [*without, needing]) == ()
        unknown = PatchedModel("neuron", "yolos", "A", PatchVerdict.NOT_RUN, "", INERT)
        assert unused(request, [unknown]) == ()
        superseded = PatchedModel("neuron", "yolos", "A", PatchVerdict.SUPERSEDED, "", INERT)
        assert unused(request, [*without, superseded]) == ("yolos",)

    def test_what_passes_once_is_flaky(self, bench: Bench) -> None:
        bench.ending = lambda r: DIED if r.seed else {"outcome": Outcome.PASSED}
        assert bench.only().verdict is PatchVerdict.FLAKY

    @pytest.mark.parametrize("lowerings", ["on", "interpolate"])
    def test_what_lowerings_do_as_well_is_superseded(self, bench: Bench, lowerings: str) -> None:
        lowered = {"outcome": Outcome.PASSED, "lowerings": ["interpolate"]}
        bench.ending = lambda r: DIED if r.settings.lowerings == "off" else lowered
        settings = AuditSettings(lowerings=lowerings, lowering_guard=False)
        (found,) = bench.audit(settings=settings)
        assert found.verdict is PatchVerdict.SUPERSEDED
        assert found.message.splitlines() == [
            "neuron/xla static failed 3 of 3: crashed at export · SIGSEGV",
            "with lowerings neuron/xla static passed 3 of 3: interpolate",
        ]
        assert [r.settings.lowerings for r in bench.requests] == ["off"] * 3 + [lowerings] * 3

    def test_lowerings_may_be_left_out(self, bench: Bench) -> None:
        (found,) = bench.audit(settings=AuditSettings(lowerings="off", lowering_guard=False))
        assert found.verdict is PatchVerdict.NEEDED
        assert [r.settings.lowerings for r in bench.requests] == ["off"] * 3

    def test_what_needs_neither_runs_once(self, bench: Bench) -> None:
        bench.ending = lambda request: {"outcome": Outcome.PASSED}
        assert bench.only().verdict is PatchVerdict.NOT_NEEDED
        assert len(bench.requests) == 3

    def test_a_patch_that_changes_the_model_is_a_finding(self, bench: Bench) -> None:
        bench.inspection = Inspection(True, 0.5, ("x: max abs 0.5",))
        assert bench.only().is_finding

    def test_a_target_that_is_gone_is_a_finding(self, bench: Bench) -> None:
        bench.inspection = Inspection(problems=("trace patch yolos is left out",))
        assert bench.only().verdict is PatchVerdict.TARGET_MISSING
        assert bench.requests == []

    def test_a_model_that_has_nothing_to_patch_is_left_out(self, bench: Bench) -> None:
        bench.inspection = Inspection()
        assert bench.audit() == ()

    def test_a_patch_without_any_model_is_a_finding(self, bench: Bench) -> None:
        request = PatchRequest(patches=("yolos",))
        assert unused(request, bench.audit()) == ()
        assert unused(request, ()) == ("yolos",)
        assert unused(PatchRequest(model_classes=("CvtModel",)), ()) == ()
        assert report.audited((), ("yolos",)).startswith("yolos: no model needs it")

    def test_what_cannot_be_built_or_run_is_not_run(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bench.inspection = Inspection(error="MissingPackageError: timm")
        assert bench.only().verdict is PatchVerdict.NOT_RUN
        bench.inspection = INERT
        monkeypatch.setitem(exporters.BACKENDS, "neuron", f"{__name__}:MissingStub")
        assert bench.only().verdict is PatchVerdict.NOT_RUN

    def test_one_patch_is_off_and_the_guard_with_it(self, bench: Bench) -> None:
        bench.audit()
        assert {(r.settings.trace_patches, r.guard) for r in bench.requests} == {("other", False)}
        assert {r.case.dynamic for r in bench.requests} == {False}

    def test_a_known_run_is_not_run_again(self, bench: Bench) -> None:
        bench.audit()
        bench.requests.clear()
        assert bench.only().verdict is PatchVerdict.NEEDED
        assert bench.requests == []


class Scaled(torch.nn.Module):
    """What a patch may change."""

    factor = 1.0

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"y": x * self.factor}


class TestInspection:
    @pytest.mark.parametrize(("patch", "max_abs"), [("yolos", 0.0), ("other", 3.0)])
    def test_measures_what_the_patch_changes(self, patch: str, max_abs: float) -> None:
        only = Selection(everything=False, names=frozenset({patch}))
        backend = exporters.get_backend("neuron")
        found = inspecting.inspect(Scaled(), {"x": torch.arange(4.0)}, backend, only)
        assert (found.applied, found.max_abs) == (True, max_abs)
        assert found.is_inert is (max_abs == 0.0)

    def test_of_a_child_is_what_it_returned(self) -> None:
        result = {
            "applied": True,
            "max_abs": 0.0,
            "differences": [],
            "problems": [],
            "error": None,
        }
        assert inspection_of(ChildReport(Ending.RESULT, result=result)) == INERT

    def test_of_one_that_failed_is_its_error(self) -> None:
        raised = ChildError("ValueError", "bad", "", ())
        assert inspection_of(ChildReport(Ending.ERROR, error=raised)).error == "ValueError: bad"
        died = ChildReport(Ending.SIGNALED, signal="SIGSEGV", stage="inspect")
        assert inspection_of(died).error == "SIGSEGV in inspect"


class TestCommand:
    def test_it_lists_patches_and_models(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["patches", "yolos", "--json"]) == 0
        (patch,) = json.loads(capsys.readouterr().out)["patches"]
        assert patch["model_classes"] == ["YolosForObjectDetection", "YolosModel"]
        assert cli.main(["patches"]) == 0
        assert "yolos: Interpolated before. (an/issue#1)" in capsys.readouterr().out

    def test_a_patch_that_is_not_there_is_wrong_use(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["patches", "yolo"]) == 2
        assert "no trace patch is called 'yolo'; there are: yolos" in capsys.readouterr().err

    def test_an_audit_ends_in_what_was_found(
        self,
        bench: Bench,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setattr("testing.commands.patches._inspect", bench.inspect)
        monkeypatch.setattr("testing.execution.execute", bench.execute)
        argv = ["patches", "yolos", "--audit", "--audits", str(bench.directory)]
        assert cli.main([*argv, "--model", "YolosModel"]) == 0
        told = capsys.readouterr().out.splitlines()
        assert told[0] == "yolos YolosModel: needed"
        assert told[-2:] == [
            "    inert: patched against unpatched 0",
            "1 needed; none not inert",
        ]
        assert cli.main([*argv, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [row["verdict"] for row in found["models"]] == ["needed", "needed"]
        assert found["versions"]["pytest"] == pytest.__version__

    def test_markdown_stands_in_a_comment(
        self,
        bench: Bench,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setattr("testing.commands.patches._inspect", bench.inspect)
        monkeypatch.setattr("testing.execution.execute", bench.execute)
        bench.ending = lambda r: {**DIED, "op": "aten::x | <y>"} if r.seed else {"outcome": PASSED}
        argv = ["patches", "yolos", "--audit", "--markdown", "--audits", str(bench.directory)]
        assert cli.main([*argv, "--model", "YolosModel"]) == 1
        head, total, table, rest = capsys.readouterr().out.rstrip().split("\n\n")
        assert (head, total) == ("### Audit of the trace patches", "1 flaky; none not inert.")
        *_, row = table.splitlines()
        assert row.startswith(
            "| `yolos` | `YolosModel` | flaky | neuron/xla static failed 2 of 3 "
        )
        assert row.count(" | ") == 3
        assert r"aten::x \| &lt;y&gt;" in row
        assert rest.startswith("Each case 3 times; python 3")

    def test_what_is_to_be_edited_stands_first(self) -> None:
        made = [
            PatchedModel("neuron", "p", name, verdict, "", Inspection(True, 0.0))
            for name, verdict in [("A", PatchVerdict.NEEDED), ("B", PatchVerdict.NOT_NEEDED)]
        ]
        changing = PatchedModel(
            "neuron", "p", "C", PatchVerdict.NEEDED, "", Inspection(True, 1.0, ("y: off",))
        )
        lines = report.audited([*made, changing]).splitlines()
        assert [line for line in lines if line.startswith("p ")] == [
            "p C: needed",
            "p B: not needed",
            "p A: needed",
        ]
        assert lines[-1] == "1 not needed, 2 needed; 1 not inert"
