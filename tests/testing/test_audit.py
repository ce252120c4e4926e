"""`skips audit`: what it runs, how it judges, how it goes on, what it writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import exporters
from testing import cli
from testing.audit import markdown, text
from testing.audit.auditing import AuditRequest, audit
from testing.audit.errors import NoEntryError
from testing.audit.journal import AttemptJournal, Key, digest_of, versions_here
from testing.audit.narrowing import narrower
from testing.audit.pruning import prune
from testing.audit.record import Audit
from testing.audit.selection import Filter, selected
from testing.audit.settings import AuditSettings
from testing.audit.verdicts import Finding, Verdict
from testing.cases import ExportCase
from testing.lint import Linter
from testing.registry import Registry, SkipFileError, Tolerance
from testing.registry.audits import Audits
from testing.registry.causes import Cause, recorded_cause
from testing.registry.skip_file import parse
from testing.results import CaseResult, Outcome
from testing.scopes import Scope
from testing.settings import CaseRequest, RunSettings
from testing.shards import Shard
from tests.testing import stubs

Ending = Callable[[CaseRequest], dict[str, Any]]

PASSED = {"outcome": Outcome.PASSED, "stage": "compare"}
DIED = {
    "outcome": Outcome.CRASHED,
    "stage": "export",
    "signal": "SIGSEGV",
    "op": "aten::upsample_bicubic2d",
    "op_source": "guard-rerun",
}
RAISED = {"outcome": Outcome.FAILED, "stage": "export"}
NO_FOO = "no op, not aten::foo"
OTHER_OP = "aten::upsample_bicubic2d, not aten::roll"
DRIFTED = {"outcome": Outcome.FAILED, "stage": "compare", "message": "max abs 0.1"}


@pytest.fixture(autouse=True)
def _backends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A neuron that is installed, and an onnx that is not."""
    for name in list(exporters.BACKENDS):
        monkeypatch.delitem(exporters.BACKENDS, name)
    for name, place in stubs.BACKENDS.items():
        monkeypatch.setitem(exporters.BACKENDS, name, place)
    # Somebody may edit the code between two audits of a test.
    monkeypatch.setattr(Key, "here", lambda tests: Key(versions_here(), "0123"))


@pytest.fixture
def _delegates(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend of two delegates, one of which is here."""
    place = "tests.testing.stubs:DelegatesStub"
    monkeypatch.setitem(exporters.BACKENDS, "executorch", place)


class Bench:
    """A file of skips, and how each class ends."""

    def __init__(self, directory: Path) -> None:
        self.skips = directory / "skips.py"
        self.directory = directory / "audits"
        self.tests = directory / "tests" / "models"
        self.tests.mkdir(parents=True)
        self.endings: dict[str, Ending] = {}
        self.requests: list[CaseRequest] = []

    def write(self, skips: str) -> None:
        self.skips.write_text(f"EXPORT_SKIPS = {skips}\n", encoding="utf-8")

    def execute(self, request: CaseRequest) -> CaseResult:
        self.requests.append(request)
        ending = self.endings.get(request.case.model_class, lambda request: PASSED)(request)
        return CaseResult.of(request.case, request.case_id, **ending)

    def audit(self, skips: str | None = None, **values: Any) -> Audit:
        if skips is not None:
            self.write(skips)
        settings = AuditSettings(**values.pop("settings", {}))
        asked = AuditRequest(
            self.skips, settings=settings, tests=self.tests, directory=self.directory, **values
        )
        return audit(asked, self.execute)

    def verdicts(self, skips: str | None = None, **values: Any) -> dict[str, str]:
        return {
            f"{finding.entry.scope} {finding.entry.model_class}": finding.verdict.value
            for finding in self.audit(skips, **values).findings
        }

    def only(self, skips: str, **values: Any) -> Finding:
        (finding,) = self.audit(skips, **values).findings
        return finding


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def always(ending: dict[str, Any]) -> Ending:
    return lambda request: ending


PLANTED = """{
    "neuron": {
        "BertModel": "Same as `CvtModel`.",
        "CvtModel": "dies in trace",
        "YolosModel": "SIGSEGV",
    },
    "neuron.exactness": {"ViTModel": "drifts"},
}"""


_REST = (Tolerance(1e-4, 1e-4), RunSettings())


class TestVerdicts:
    def test_of_planted_entries_are_stale_but_for_the_one_that_dies(self, bench: Bench) -> None:
        bench.endings["YolosModel"] = always(DIED)
        assert bench.verdicts(PLANTED) == {
            "neuron BertModel": "stale",
            "neuron CvtModel": "stale",
            "neuron YolosModel": "needed",
            "neuron.exactness ViTModel": "stale",
        }

    def test_what_kills_the_process_is_told(self, bench: Bench) -> None:
        bench.endings["YolosModel"] = always(DIED)
        message = bench.only('{"neuron": {"YolosModel": "SIGSEGV"}}').message
        assert "failed 3 of 3: crashed at export · SIGSEGV · aten::upsample_bicubic2d" in message

    def test_what_fails_under_one_seed_is_flaky(self, bench: Bench) -> None:
        bench.endings["BertModel"] = lambda r: DRIFTED if r.seed % 2 else PASSED
        finding = bench.only('{"neuron": {"BertModel": "drifts"}}')
        assert finding.verdict is Verdict.FLAKY
        assert "neuron/xla static failed 1 of 3 (seed 1): " in finding.message

    def test_what_fails_dynamic_alone_is_too_broad(self, bench: Bench) -> None:
        bench.endings["BertModel"] = lambda r: DRIFTED if r.case.dynamic else PASSED
        finding = bench.only('{"neuron": {"BertModel": "drifts"}}')
        assert finding.verdict is Verdict.TOO_BROAD
        assert [str(scope) for scope in finding.proposed] == ["neuron.dynamic"]

    @pytest.mark.parametrize("scope", ["onnx", "neuron.neuronx"])
    def test_what_another_backend_or_runtime_has_is_not_run(
        self, bench: Bench, scope: str
    ) -> None:
        assert bench.verdicts(f'{{"{scope}": {{"BertModel": "dies in trace"}}}}') == {
            f"{scope} BertModel": "not run"
        }
        assert bench.requests == []

    @pytest.mark.usefixtures("_delegates")
    def test_a_delegate_that_is_not_here_is_not_run_and_those_that_are_decide(
        self, bench: Bench
    ) -> None:
        skips = '{"%s": {"BertModel": "no kernel"}}'
        assert bench.only(skips % "executorch.mlx").verdict is Verdict.NOT_RUN
        assert bench.only(skips % "executorch").verdict is Verdict.STALE
        assert {request.case.delegate for request in bench.requests} == {"xnnpack"}

    def test_what_is_run_in_part_and_passes_is_not_stale(self, bench: Bench) -> None:
        finding = bench.only('{"all": {"BertModel": "dies in trace"}}')
        assert finding.verdict is Verdict.NOT_RUN
        assert "onnx: onnx is not installed" in finding.message

    def test_what_fails_where_it_is_run_is_needed(self, bench: Bench) -> None:
        bench.endings["BertModel"] = always(DIED)
        assert bench.verdicts('{"all": {"BertModel": "SIGSEGV"}}') == {"all BertModel": "needed"}

    @pytest.mark.parametrize(
        "value",
        ['Skip("dies in trace", when="no-such-package<2")', 'Skip("dies", component="decoder")'],
    )
    def test_what_does_not_apply_here_is_not_run(self, bench: Bench, value: str) -> None:
        assert bench.only(f'{{"neuron": {{"BertModel": {value}}}}}').verdict is Verdict.NOT_RUN

    def test_a_class_of_another_transformers_is_not_run(self, bench: Bench) -> None:
        finding = bench.only('{"neuron": {"NoSuchModel": "dies in trace"}}')
        assert finding.verdict is Verdict.NOT_RUN
        assert "no model class 'NoSuchModel'" in finding.message

    @pytest.mark.parametrize("outcome", [Outcome.SKIPPED, Outcome.EXPORTED])
    def test_what_proves_nothing_is_never_stale(self, bench: Bench, outcome: Outcome) -> None:
        bench.endings["BertModel"] = always({"outcome": outcome, "reason": "no device"})
        finding = bench.only('{"neuron": {"BertModel": "dies in trace"}}')
        assert finding.verdict is Verdict.NOT_RUN
        assert "no device" in finding.message

    def test_a_case_that_does_not_apply_needs_no_entry(self, bench: Bench) -> None:
        not_applicable = {"outcome": Outcome.NOT_APPLICABLE, "message": "mixes samples"}
        bench.endings["CLIPModel"] = lambda r: not_applicable if r.case.dynamic else PASSED
        assert bench.only('{"neuron": {"CLIPModel": "dies"}}').verdict is Verdict.STALE
        bench.endings["CLIPModel"] = always(not_applicable)
        assert bench.verdicts(is_fresh=True) == {"neuron CLIPModel": "not run"}

    def test_a_toolkit_that_does_not_fit_says_nothing_of_a_model(self, bench: Bench) -> None:
        message = "BackendIncompatibleError: no argument 'compiler_args'"
        bench.endings["T5Model"] = always({**DRIFTED, "message": message})
        assert bench.only('{"neuron": {"T5Model": "dies"}}').verdict is Verdict.NOT_RUN


class TestChangedCauses:
    """B30, B39: what fails in another way than the reason says is not what it excuses."""

    @pytest.mark.parametrize(
        ("reason", "ending", "told"),
        [
            ("aten::foo has no lowering", DRIFTED, "stage compare, not export"),
            (
                "aten::foo has no lowering",
                {"outcome": Outcome.FAILED, "stage": "prepare", "message": "ImportError: x"},
                "stage prepare, not export; ImportError",
            ),
            (
                "aten::foo has no lowering",
                {"outcome": Outcome.TIMEOUT, "stage": "export"},
                "the time limit",
            ),
            ("aten::foo has no lowering", DIED, "aten::upsample_bicubic2d, not aten::foo"),
            (
                "SIGSEGV while tracing",
                {"outcome": Outcome.FAILED, "stage": "export", "message": "RuntimeError: x"},
                "no signal, not SIGSEGV",
            ),
            ("drifts 1e-2", DIED, "stage export, not compare"),
            ("hangs", DRIFTED, "not the time limit"),
            (
                "aten::foo reads its operand while tracing: derived from other weights, x",
                DRIFTED,
                "stage compare, not export",
            ),
            ("On the traced inputs: differs by 1", DIED, "stage export, not compare"),
            ("aten::foo has no lowering", {**RAISED, "message": "ValueError: x"}, NO_FOO),
            (
                "dies in trace",
                {**RAISED, "message": "ModuleNotFoundError: No module named 'x'"},
                "ModuleNotFoundError",
            ),
            (
                "ValueError: a (m.py:1) at export",
                {**RAISED, "message": "IndexError: b"},
                "IndexError, not ValueError",
            ),
        ],
    )
    def test_are_said(self, bench: Bench, reason: str, ending: dict[str, Any], told: str) -> None:
        bench.endings["BertModel"] = always(ending)
        finding = bench.only(f'{{"neuron.static": {{"BertModel": "{reason}"}}}}')
        assert finding.verdict is Verdict.CHANGED
        assert finding.changes == (f"neuron/xla static: {told}",)

    @pytest.mark.parametrize(
        ("reason", "ending"),
        [
            ("aten::upsample_bicubic2d kills the process", DIED),
            ("SIGSEGV", {**DIED, "outcome": Outcome.FAILED, "signal": None, "op_source": "guard"}),
            ("dies in trace", DIED),
            ("nobody knows why", DRIFTED),
            ("Takes too long", {"outcome": Outcome.TIMEOUT, "stage": "export"}),
            ("ValueError: a at export", {**RAISED, "message": "ValueError: a (m.py:2)"}),
            (
                "RuntimeError of aten::foo while tracing",
                {**RAISED, "message": "UnloweredOpError: aten::foo", "op_source": "guard"},
            ),
            ("nobody knows why", {**RAISED, "message": "ImportError: x"}),
            ("Right with these and wrong with other weights.", DRIFTED),
            ("aten::roll differs by 1", {**DRIFTED, "baked_reads": ["aten::nonzero of a"]}),
            (
                "aten::nonzero reads input_ids while tracing, so that they are baked in: on fresh "
                "inputs the logits are off by 0.39",
                {**DRIFTED, "baked_reads": ["aten::nonzero of input_ids at a.py:1"]},
            ),
        ],
    )
    def test_the_recorded_cause_is_none(
        self, bench: Bench, reason: str, ending: dict[str, Any]
    ) -> None:
        bench.endings["BertModel"] = always(ending)
        finding = bench.only(f'{{"neuron.static": {{"BertModel": "{reason}"}}}}')
        assert (finding.verdict, finding.changes) == (Verdict.NEEDED, ())

    def test_a_reference_has_the_cause_of_what_it_refers_to(self, bench: Bench) -> None:
        skips = """{"neuron": {
            "BertModel": "Same as `CvtModel`.", "CvtModel": "aten::foo has no lowering"}}"""
        bench.endings = {"BertModel": always(DRIFTED), "CvtModel": always(DIED)}
        assert bench.verdicts(skips) == {
            "neuron BertModel": "changed",
            "neuron CvtModel": "changed",
        }

    def test_references_in_a_circle_end(self) -> None:
        data = b"""EXPORT_SKIPS = {"neuron": {
            "A": "Same as `B`.", "B": "Same as `A`."}}"""
        entries = parse(Path("skips.py"), data).entries
        assert recorded_cause(entries[0], entries) == Cause()

    def test_an_exactness_entry_excuses_figures_alone(self, bench: Bench) -> None:
        bench.endings["ViTModel"] = always(DIED)
        finding = bench.only('{"neuron.exactness": {"ViTModel": "nobody knows why"}}')
        assert finding.verdict is Verdict.CHANGED


class TestFigures:
    """Entries of exactness and of ``TOLERANCES``: the case runs, and is compared without them."""

    def tables(self, bench: Bench, skips: str, tolerances: str) -> None:
        bench.write(f"{skips}\nTOLERANCES = {tolerances}")

    def test_a_tolerance_is_lifted_and_no_other_entry(self, bench: Bench) -> None:
        self.tables(
            bench,
            '{"neuron": {"CvtModel": "dies in trace"}}',
            '{"neuron": {"BertModel": Tolerance(1, 1, reason="sums of bf16"),\n'
            '"CvtModel": Tolerance(0.5, 0.5, reason="sums of bf16")}}',
        )
        bench.audit(wanted=Filter(model_classes=("BertModel",)))
        assert {r.tolerance for r in bench.requests} == {Tolerance(1e-4, 1e-4)}
        bench.requests.clear()
        bench.audit(wanted=Filter(model_classes=("CvtModel",)))
        assert {r.tolerance for r in bench.requests} == {Tolerance(0.5, 0.5, 0, "sums of bf16")}

    @pytest.mark.parametrize(
        ("ending", "verdict", "change"),
        [
            (PASSED, "stale", ()),
            (DRIFTED, "needed", ()),
            (DIED, "changed", ("neuron/xla static: stage export, not compare; " + OTHER_OP,)),
        ],
    )
    def test_a_tolerance_is_judged_as_a_skip_is(
        self, bench: Bench, ending: dict[str, Any], verdict: str, change: tuple[str, ...]
    ) -> None:
        tolerance = '{"neuron.static": {"BertModel": Tolerance(1, 1, reason="aten::roll")}}'
        self.tables(bench, "{}", tolerance)
        bench.endings["BertModel"] = always(ending)
        found = bench.audit()
        (finding,) = found.findings
        assert (finding.verdict.value, finding.changes) == (verdict, change)
        assert f": TOLERANCES neuron.static BertModel: {verdict}\n" in text.summary(found)

    def test_a_stale_tolerance_is_pruned(self, bench: Bench) -> None:
        tolerances = '{"neuron.static": {"BertModel": Tolerance(1, 1, reason="sums of bf16")}}'
        self.tables(bench, '{"neuron.static": {"BertModel": "dies in trace"}}', tolerances)
        bench.endings["BertModel"] = lambda r: PASSED if r.tolerance.atol < 1 else DIED
        bench.audit()
        pruned = prune(bench.skips, Audits.read(bench.directory), versions_here())
        assert "TOLERANCES = {}" not in pruned.after.decode()
        self.tables(bench, "{}", tolerances)
        bench.audit()
        pruned = prune(bench.skips, Audits.read(bench.directory), versions_here())
        assert "TOLERANCES = {}" in pruned.after.decode()

    @pytest.mark.parametrize(
        ("skips", "tolerances"),
        [
            ('{"neuron": {"BertModel": "dies"}, "exactness": {"BertModel": "drifts 1"}}', "{}"),
            (
                '{"neuron": {"BertModel": "dies"}}',
                '{"all": {"BertModel": Tolerance(1, 1, reason="sums of bf16")}}',
            ),
        ],
    )
    def test_what_is_skipped_anyway_has_no_figures(
        self, bench: Bench, skips: str, tolerances: str
    ) -> None:
        self.tables(bench, skips, tolerances)
        *_, finding = bench.audit().findings
        assert finding.verdict is Verdict.NOT_RUN
        assert "neuron static: line 1 skips it" in finding.message

    def test_onnx_has_an_optimizer_and_no_other_backend(self, bench: Bench) -> None:
        bench.write('{}\nONNX_DISABLE_OPTIMIZE = {"all": {"BertModel": "folds a Resize"}}')
        (finding,) = bench.audit().findings
        assert (finding.verdict, bench.requests) == (Verdict.NOT_RUN, [])


def case(dynamic: bool, generate: bool = False, backend: str = "neuron") -> ExportCase:
    runtime = "xla" if backend == "neuron" else None
    return ExportCase("M", None, backend, runtime, dynamic=dynamic, generate=generate)


class TestNarrowerScopes:
    @pytest.mark.parametrize(
        ("scope", "failing", "passing", "proposed"),
        [
            ("neuron", [case(True)], [case(False)], ["neuron.dynamic"]),
            ("all", [case(True)], [case(False)], ["dynamic"]),
            ("neuron.exactness", [case(True)], [case(False)], ["neuron.dynamic.exactness"]),
            (
                "all",
                [case(True), case(False)],
                [case(True, backend="onnx"), case(False, backend="onnx")],
                ["neuron"],
            ),
            (
                "neuron",
                [case(True), case(False, generate=True)],
                [case(False), case(True, generate=True)],
                ["neuron.forward.dynamic", "neuron.generate.static"],
            ),
            ("neuron", [case(True)], [case(True)], []),
        ],
    )
    def test_have_all_that_fails_and_nothing_that_passes(
        self,
        scope: str,
        failing: list[ExportCase],
        passing: list[ExportCase],
        proposed: list[str],
    ) -> None:
        found = narrower(Scope.parse(scope), failing, passing)
        assert [str(one) for one in found] == proposed


class TestWhatRuns:
    def test_each_case_runs_under_several_seeds_in_a_process_of_its_own(
        self, bench: Bench
    ) -> None:
        bench.audit('{"neuron.static": {"BertModel": "drifts"}}')
        assert [request.seed for request in bench.requests] == [0, 1, 2]
        assert {request.settings.isolate for request in bench.requests} == {"always"}

    def test_an_exactness_entry_is_compared_without_its_excuse(self, bench: Bench) -> None:
        excuse = '"neuron.static.exactness": {"BertModel": "drifts a little"}'
        bench.audit(f'{{"neuron.static": {{"BertModel": "drifts"}}, {excuse}}}')
        assert [r.exactness_reason for r in bench.requests] == ["drifts a little"] * 3
        bench.requests.clear()
        bench.audit(f"{{{excuse}}}")
        assert [r.exactness_reason for r in bench.requests] == [None] * 3

    def test_the_options_of_a_run_reach_the_case(self, bench: Bench) -> None:
        options = {"trace_patches": "off", "lowering_guard": False, "time_limit": 7.0}
        bench.audit('{"neuron.static": {"BertModel": "drifts"}}', settings=options)
        request = bench.requests[0]
        assert (request.settings.trace_patches, request.guard, request.timeout) == (
            "off",
            False,
            7,
        )

    def test_the_test_class_that_names_a_class_runs_it(self, bench: Bench) -> None:
        (bench.tests / "test_some.py").write_text(
            "import unittest\nfrom testing.mixin import ExportTesterMixin\n"
            "class BertTest(ExportTesterMixin, unittest.TestCase):\n"
            "    all_model_classes = ('BertModel',)\n"
        )
        bench.audit('{"neuron.static": {"BertModel": "drifts", "ViTModel": "drifts"}}')
        tests = {(r.case.model_class, r.test_class, r.test_method) for r in bench.requests}
        assert tests == {
            ("BertModel", "BertTest", "test_neuron_export_static_BertModel"),
            ("ViTModel", "TinyHost", "runTest"),
        }

    def test_a_test_class_that_cannot_be_exported_is_not_run(self, bench: Bench) -> None:
        (bench.tests / "test_some.py").write_text(
            "import unittest\nfrom testing.mixin import ExportTesterMixin\n"
            "class BertTest(ExportTesterMixin, unittest.TestCase):\n"
            "    all_model_classes = ('BertModel',)\n    test_torch_exportable = False\n"
        )
        finding = bench.only('{"neuron.static": {"BertModel": "drifts"}}')
        assert finding.verdict is Verdict.NOT_RUN
        assert "BertTest.test_torch_exportable = False" in finding.message

    def test_a_test_that_skips_itself_hides_no_other(self, bench: Bench) -> None:
        (bench.tests / "test_some.py").write_text(
            "import unittest\nfrom testing.mixin import ExportTesterMixin\n"
            "class OneTest(ExportTesterMixin, unittest.TestCase):\n"
            "    all_model_classes = ('BertModel',)\n"
            "class OtherTest(OneTest):\n    pass\n"
        )
        skipped = {"outcome": Outcome.SKIPPED, "reason": "no checkpoint"}
        bench.endings["BertModel"] = lambda r: skipped if r.test_class == "OneTest" else PASSED
        finding = bench.only('{"neuron.static": {"BertModel": "drifts"}}')
        assert finding.verdict is Verdict.STALE
        assert {request.test_class for request in bench.requests} == {"OneTest", "OtherTest"}


class TestFilters:
    """B36, B37: what was not asked for is left alone, and names match whole."""

    SKIPS = """{
        "neuron": {"T5Model": "x y", "BertModel": "x y"},
        "neuron.dynamic": {"MT5Model": "x y", "T5Model": Skip("x y", kind="wontfix")}}"""

    @pytest.mark.parametrize(
        ("wanted", "names"),
        [
            ({"model_classes": ("T5Model",)}, ["neuron T5Model", "neuron.dynamic T5Model"]),
            (
                {"scopes": (Scope.parse("neuron.dynamic"),)},
                ["neuron.dynamic MT5Model", "neuron.dynamic T5Model"],
            ),
            (
                {"scopes": (Scope.parse("neuron"),), "model_classes": ("T5Model",)},
                ["neuron T5Model", "neuron.dynamic T5Model"],
            ),
            ({"kinds": ("wontfix",)}, ["neuron.dynamic T5Model"]),
            (
                {"shard": Shard(1, 1), "model_classes": ("MT5Model",)},
                ["neuron.dynamic MT5Model"],
            ),
        ],
    )
    def test_choose_entries(self, bench: Bench, wanted: dict[str, Any], names: list[str]) -> None:
        assert list(bench.verdicts(self.SKIPS, wanted=Filter(**wanted))) == names

    def test_shards_have_each_entry_once(self) -> None:
        entries = parse(Path("s.py"), f"EXPORT_SKIPS = {self.SKIPS}".encode()).entries
        shares = [selected(entries, Filter(shard=Shard(i, 3))) for i in (1, 2, 3)]
        assert sorted(e.line * 100 + e.column for share in shares for e in share) == sorted(
            e.line * 100 + e.column for e in entries
        )

    @pytest.mark.parametrize(
        ("wanted", "told"),
        [
            (Filter(model_classes=("5Model",)), "no entry has the class '5Model'; nearest: T5"),
            (Filter(scopes=(Scope.parse("neuron.static"),)), "under the scope neuron.static or"),
            (Filter(kinds=("slow",)), "no entry has the class, the scope and the kind"),
            (Filter(("BertModel",), (Scope.parse("neuron.dynamic"),)), "no entry has the class, "),
        ],
    )
    def test_one_that_names_nothing_is_an_error(
        self, bench: Bench, wanted: Filter, told: str
    ) -> None:
        with pytest.raises(NoEntryError, match=told):
            bench.audit(self.SKIPS, wanted=wanted)

    def test_a_filtered_audit_keeps_what_others_have_found(self, bench: Bench) -> None:
        bench.audit(self.SKIPS)
        bench.endings["T5Model"] = always(DRIFTED)
        bench.audit(wanted=Filter(model_classes=("T5Model",)), is_fresh=True)
        audits = Audits.read(bench.directory)
        last = {e.model_class: audits.last_of(e) for e in Registry.load(bench.skips).entries}
        assert {name: f.verdict for name, f in last.items() if f} == {
            "T5Model": "needed",
            "BertModel": "stale",
            "MT5Model": "stale",
        }


class TestGoingOn:
    SKIPS = '{"neuron": {"BertModel": "drifts"}}'

    def interrupted(self, after: int) -> Ending:
        seen: list[CaseRequest] = []

        def ending(request: CaseRequest) -> dict[str, Any]:
            if len(seen) == after:
                raise KeyboardInterrupt
            seen.append(request)
            return PASSED

        return ending

    def test_what_was_interrupted_keeps_what_it_has(self, bench: Bench) -> None:
        bench.endings["BertModel"] = self.interrupted(after=2)
        found = bench.audit(self.SKIPS, workers=1)
        assert not found.is_whole
        assert found.findings[0].verdict is Verdict.NOT_RUN
        assert "interrupted after 2 of 3 runs" in found.findings[0].message
        assert "interrupted: run it again" in text.totals(found)
        bench.endings.clear()
        bench.requests.clear()
        assert bench.audit().findings[0].verdict is Verdict.STALE
        assert len(bench.requests) == 4

    def test_a_known_run_is_not_run_again(self, bench: Bench) -> None:
        bench.audit(self.SKIPS)
        bench.requests.clear()
        bench.audit()
        assert bench.requests == []
        bench.audit(is_fresh=True)
        assert len(bench.requests) == 6

    def test_other_settings_are_other_runs(self, bench: Bench) -> None:
        bench.audit(self.SKIPS)
        bench.requests.clear()
        bench.audit(settings={"trace_patches": "off"})
        assert len(bench.requests) == 6

    def test_runs_of_other_versions_or_sources_do_not_count(self, tmp_path: Path) -> None:
        request = CaseRequest(case(False), "i", "m", "p", "t", "t", *_REST)
        result = CaseResult.of(request.case, "i", Outcome.PASSED)
        key = Key({"torch": "2.9.1"}, "0123")
        AttemptJournal(tmp_path / "j", key).append(request, result)
        assert AttemptJournal(tmp_path / "j", key).read() == {digest_of(request): result}
        for other in (Key({"torch": "2.13.0"}, "0123"), Key(key.versions, "4567")):
            assert AttemptJournal(tmp_path / "j", other).read() == {}

    def test_a_torn_line_loses_no_other(self, tmp_path: Path) -> None:
        request = CaseRequest(case(False), "i", "m", "p", "t", "t", *_REST)
        result = CaseResult.of(request.case, "i", Outcome.PASSED)
        journal = AttemptJournal(tmp_path / "j", Key({}, ""))
        journal.append(request, result)
        with journal.path.open("ab") as stream:
            stream.write(b'{"request": "x", "resu')
        journal.append(request, result)
        assert list(journal.read()) == [digest_of(request)]


class TestTelling:
    def test_the_file_has_versions_settings_and_every_run(self, bench: Bench) -> None:
        bench.endings["YolosModel"] = always(DIED)
        bench.audit('{"neuron.static": {"YolosModel": "SIGSEGV"}}')
        (file,) = bench.directory.glob("*.json")
        found = json.loads(file.read_text())
        assert found["versions"]["pytest"] == pytest.__version__
        assert found["settings"]["repeat"] == 3
        assert found["complete"] is True
        (entry,) = found["entries"]
        runs = entry["cases"][0]["runs"]
        assert [run["seed"] for run in runs] == [0, 1, 2]
        assert runs[0]["result"]["signal"] == "SIGSEGV"

    def test_the_summary_has_what_asks_for_an_edit_first(self, bench: Bench) -> None:
        bench.endings["YolosModel"] = always(DIED)
        bench.endings["T5Model"] = lambda r: DRIFTED if r.case.dynamic else PASSED
        lines = text.summary(
            bench.audit("""{"neuron": {
            "CvtModel": "dies in trace", "T5Model": "drifts", "YolosModel": "SIGSEGV"}}""")
        ).splitlines()
        heads = [line.partition(": ")[2] for line in lines if line.startswith(str(bench.skips))]
        assert heads == [
            "neuron CvtModel: stale",
            "neuron T5Model: too broad",
            "neuron YolosModel: needed",
        ]
        assert "    neuron.dynamic would do" in lines
        assert lines[-1].startswith("1 stale, 1 too broad, 1 needed; `export-harness skips prune`")

    def test_markdown_stands_in_a_comment(self, bench: Bench) -> None:
        bench.endings["T5Model"] = always({**DRIFTED, "message": "a | b\n<c> @d \x1b[31m _e_"})
        told = markdown.comment(
            bench.audit("""{"neuron.static": {"CvtModel": "dies", "T5Model": "drifts"}}""")
        )
        rows = [line for line in told.splitlines() if line.startswith("| `")]
        assert len(rows) == 2
        assert rows[0].startswith("| `neuron.static` | `CvtModel` | stale | ")
        assert r"a \| b" in rows[1]
        assert "\x1b" not in told
        assert "<details><summary>Needed, and not run</summary>" in told

    def test_markdown_fits_into_a_comment(self, bench: Bench) -> None:
        bench.endings["T5Model"] = always({**DIED, "message": "x" * 1000})
        found = bench.audit("""{"neuron.static": {"CvtModel": "dies", "T5Model": "dies"}}""")
        stale, needed = found.findings
        told = markdown.comment(replace(found, findings=(stale, *[needed] * 400)))
        shown = [line for line in told.splitlines() if line.startswith("| `")]
        assert len(told) <= 65_536
        assert shown[0].startswith("| `neuron.static` | `CvtModel` | stale | ")
        assert f"| … and {401 - len(shown)} more |  |  |  |" in told


def test_what_it_finds_stale_is_what_prune_takes_out(bench: Bench) -> None:
    bench.endings["YolosModel"] = always(DIED)
    bench.endings["T5Model"] = lambda r: DRIFTED if r.seed % 2 else PASSED
    bench.endings["ViTModel"] = lambda r: DRIFTED if r.case.dynamic else PASSED
    bench.audit("""{
    "neuron": {
        "BertModel": "Same as `CvtModel`.",
        "CvtModel": "dies in trace",
        "T5Model": "drifts",
        "ViTModel": "drifts",
        "YolosModel": "SIGSEGV",
    },
    "neuron.exactness": {"GPT2Model": "drifts"},
}""")
    found = prune(bench.skips, Audits.read(bench.directory), versions_here())
    left = [entry.model_class for entry in parse(bench.skips, found.after).entries]
    assert left == ["T5Model", "ViTModel", "YolosModel"]
    assert Linter.of(bench.skips).lint(found.after).problems == ()


def test_a_file_with_an_invisible_character_is_refused(bench: Bench) -> None:
    # B40
    bench.write('{"neuron": {"BertModel\u200b": "drifts"}}')
    with pytest.raises(SkipFileError, match=r"skips\.py:1: 'BertModel\\u200b' is no name"):
        bench.audit()
    assert bench.requests == []


class TestCommand:
    @pytest.fixture
    def command(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Any:
        monkeypatch.setattr("testing.execution.execute", bench.execute)
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)

        def run(*argv: str) -> int:
            places = ["--skips", str(bench.skips), "--audits", str(bench.directory)]
            return cli.main(["skips", "audit", "--tests", str(bench.tests), *places, *argv])

        return run

    def test_its_status_says_whether_the_file_is_to_be_edited(
        self, bench: Bench, command: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bench.write(PLANTED)
        bench.endings["YolosModel"] = always(DIED)
        options = ["--trace-patches", "off", "--lowerings", "off", "--lowering-guard", "off"]
        assert command(*options, "--json") == 1
        found = json.loads(capsys.readouterr().out)
        assert found["counts"] == {"stale": 3, "needed": 1}
        assert command(*options, "YolosModel") == 0

    def test_an_interrupted_one_tells_what_it_has(
        self, bench: Bench, command: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bench.write(TestGoingOn.SKIPS)
        bench.endings["BertModel"] = TestGoingOn().interrupted(after=0)
        assert command() == 130
        assert "interrupted" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("argv", "told"),
        [
            (["BertModle"], "no entry has the class 'BertModle'; nearest: BertModel"),
            (["--scope", "nueron"], "did you mean 'neuron'"),
            (["--repeat", "1"], "one run cannot tell what is stale"),
            (["--time-limit", "0"], "a number of seconds above 0"),
            (["--trace-patches", "weightnorm"], "no trace patch is called 'weightnorm'"),
            (["--shard", "3/2"], "is no shard"),
        ],
    )
    def test_wrong_use_is_told(
        self,
        bench: Bench,
        command: Any,
        argv: list[str],
        told: str,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        bench.write(TestGoingOn.SKIPS)
        assert command(*argv) == 2
        assert told in capsys.readouterr().err
        assert bench.requests == []
