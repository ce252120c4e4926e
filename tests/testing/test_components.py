"""A case of several components: each has a result, and the case has the worst of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import exporters
from exporters.base import RuntimeLimitError
from exporters.tree import tensor_leaves
from testing import execution, journal
from testing.audit.journal import digest_of
from testing.audit.planning import Plan
from testing.audit.verdicts import Verdict, judge
from testing.cases import ExportCase
from testing.execution import runner
from testing.inputs.captured import CapturedInputs
from testing.isolation import ModuleSpec, load_module
from testing.journal import Journal
from testing.pipeline import case as pipeline_case
from testing.registry import Registry
from testing.registry.causes import recorded_cause
from testing.registry.entries import Skip, Tolerance
from testing.registry.skip_file import EXPORT_SKIPS, ONNX_DISABLE_OPTIMIZE, TOLERANCES, Entry
from testing.reports.case import cases_of
from testing.reports.summary import summarize
from testing.results import CaseResult, Outcome
from testing.rolling_up import rolled_up
from testing.scopes import Scope
from testing.session import Session
from testing.settings import CaseRequest, RunSettings, Terms
from testing.terms import component_terms, terms_for
from tests.testing.component_hosts import Pair, parts_of, received
from tests.testing.doubles import EagerDouble, MadeInputs, normal, run_double
from tests.testing.plugin_runs import NEURON, host, run

pytest_plugins = ["pytester"]

HOSTS = ModuleSpec("component_hosts", str(Path(__file__).with_name("component_hosts.py")))


@pytest.fixture(autouse=True, scope="module")
def _hosts() -> Iterator[None]:
    load_module(HOSTS)
    yield
    runner.close_servers()
    exporters.BACKENDS.pop("parted", None)


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Callable[..., CaseResult]:
    monkeypatch.setattr(pipeline_case, "parts_of", parts_of)

    def run(double: EagerDouble | None = None, **values: Any) -> CaseResult:
        inputs = MadeInputs(normal(3), batch_size=2)
        return run_double(Pair(), inputs, double or EagerDouble(), **values)

    return run


def at_head(change: Callable[[torch.Tensor], torch.Tensor]) -> EagerDouble:
    return EagerDouble(edit=lambda output: change(output) if output.shape[-1] == 2 else output)


def by_name(result: CaseResult) -> dict[str | None, Outcome]:
    return {part.component: part.outcome for part in result.components}


# Inputs


def test_a_component_gets_what_the_whole_model_hands_to_it() -> None:
    model, inputs = Pair(), MadeInputs(normal(3))
    captured = CapturedInputs(inputs, received(model, "head"))
    assert captured.families == inputs.families
    for own, whole in [
        (captured.traced(), inputs.traced()),
        (captured.fresh("ramp"), inputs.fresh("ramp")),
        (captured.fresh("noise", 5), inputs.fresh("noise", 5)),
    ]:
        with torch.no_grad():
            expected = model.encoder(whole["x"]).tanh()
        assert torch.equal(own["input"], expected)
    assert captured.unchanged == {}


def test_what_the_whole_model_hands_on_alike_in_every_set_is_told() -> None:
    inputs = MadeInputs(normal(3))
    captured = CapturedInputs(inputs, lambda given: {**given, "places": torch.arange(3)})
    assert list(captured.unchanged) == ["places"]
    assert set(tensor_leaves(captured.traced())) == {"x", "places"}


def test_a_view_is_handed_over_with_the_strides_that_a_run_gets() -> None:
    inputs = MadeInputs(normal(3, 4))
    captured = CapturedInputs(inputs, lambda given: {"rest": given["x"][:, 1:]})
    assert captured.traced()["rest"].is_contiguous()
    assert torch.equal(captured.traced()["rest"], inputs.traced()["x"][:, 1:])


# Results


def test_a_case_passes_when_its_components_do(pair: Callable[..., CaseResult]) -> None:
    begun: list[str] = []
    result = pair(on_stage=begun.append)
    assert by_name(result) == {"encoder": Outcome.PASSED, "head": Outcome.PASSED}
    assert result.outcome is Outcome.PASSED
    assert result.message == "Components: encoder passed, head passed."
    assert begun[:2] == ["prepare", "encoder: prepare"]
    assert begun[-1] == "head: compare"
    assert all(part.metrics and part.seconds for part in result.components)


def test_one_wrong_component_fails_the_case_and_the_other_passes(
    pair: Callable[..., CaseResult],
) -> None:
    result = pair(at_head(lambda output: output + 1))
    assert by_name(result) == {"encoder": Outcome.PASSED, "head": Outcome.FAILED}
    assert (result.outcome, result.stage) == (Outcome.FAILED, "compare")
    assert result.message is not None
    assert result.message.startswith("In head: ")
    assert "encoder passed, head failed" in result.message


def test_a_limit_of_the_runtime_skips_its_component_and_is_no_pass(
    pair: Callable[..., CaseResult],
) -> None:
    def limited(output: torch.Tensor) -> torch.Tensor:
        raise RuntimeLimitError("missing portable kernel 0x14")

    result = pair(at_head(limited))
    head = result.components[1]
    assert head.outcome is Outcome.SKIPPED
    assert head.reason == "runtime limit: missing portable kernel 0x14"
    assert head.is_runtime_limit
    assert result.outcome is Outcome.SKIPPED
    assert result.reason == head.reason
    assert "encoder passed, head skipped" in (result.message or "")
    every = pair(EagerDouble(edit=limited))
    assert every.outcome is Outcome.SKIPPED
    assert every.is_runtime_limit


def test_the_summary_counts_cases_shows_components_and_lists_limits(
    pair: Callable[..., CaseResult],
) -> None:
    def limited(output: torch.Tensor) -> torch.Tensor:
        raise RuntimeLimitError("arena 0x21")

    result = pair(at_head(limited))
    text = summarize([*result.components, replace(result, components=[])])
    assert "limits of a runtime, no pass (1)" in text
    assert "Pair · head [double static]: runtime limit: arena 0x21" in text
    totals = next(line for line in text.splitlines() if line.startswith("double static"))
    assert totals.split()[-2:] == ["1", "1"]
    assert [line.split() for line in text.splitlines() if line.startswith("    head")] == [
        ["head", "skipped"]
    ]


def test_the_summary_says_why_a_part_of_a_case_that_passed_is_skipped(
    pair: Callable[..., CaseResult],
) -> None:
    skip = Terms(Tolerance(1e-4, 1e-4), skip=("double", "its head is known"))
    result = pair(EagerDouble(), components={"head": skip})
    assert result.outcome is Outcome.PASSED
    lines = summarize([*result.components, replace(result, components=[])]).splitlines()
    place = lines.index("skipped in part (1)")
    assert "Pair · head [double static]" in lines[place + 1]
    assert "its head is known" in lines[place + 1]


# Terms


def test_terms_of_a_component_are_its_own(pair: Callable[..., CaseResult]) -> None:
    double = at_head(lambda output: output + 0.01)
    assert pair(double).outcome is Outcome.FAILED
    strict, loose = Tolerance(1e-4, 1e-4), Tolerance(0.1, 0.1)
    assert pair(double, components={"head": Terms(loose)}).outcome is Outcome.PASSED
    assert pair(double, components={"encoder": Terms(loose)}).outcome is Outcome.FAILED
    excused = {"head": Terms(strict, exactness_reason="rounds")}
    assert pair(double, components=excused).outcome is Outcome.PASSED


def test_a_skipped_component_is_told_and_the_others_run(pair: Callable[..., CaseResult]) -> None:
    skip = Terms(Tolerance(1e-4, 1e-4), skip=("double", "its head is known"))
    result = pair(at_head(lambda output: output + 1), components={"head": skip})
    assert by_name(result) == {"encoder": Outcome.PASSED, "head": Outcome.SKIPPED}
    assert (result.components[1].scope, result.components[1].reason) == skip.skip
    assert result.outcome is Outcome.PASSED


def test_the_optimizer_is_off_for_the_component_that_is_named(
    pair: Callable[..., CaseResult],
) -> None:
    double = EagerDouble()
    off = Terms(Tolerance(1e-4, 1e-4), optimizer_off="it folds a mask")
    result = pair(double, components={"head": off})
    assert [options.optimize for options in double.seen] == [True, False]
    assert result.components[0].message is None
    assert result.components[1].message == "Note: the backend's optimizer is off: it folds a mask."


CASE = ExportCase("LlavaModel", "llava", "onnx")


def registry(*entries: tuple[str, str, Any]) -> Registry:
    return Registry(
        Entry(table, Scope.parse(scope), CASE.model_class, value, 1)
        for table, scope, value in entries
    )


def test_entries_reach_the_component_that_they_name_and_no_other() -> None:
    found = registry(
        (EXPORT_SKIPS, "onnx", Skip("its head is wrong", component="lm_head")),
        (EXPORT_SKIPS, "onnx.exactness", Skip("it rounds", component="image_encoder")),
        (ONNX_DISABLE_OPTIMIZE, "onnx.static", Skip("it folds", component="language_model")),
        (TOLERANCES, "onnx", Tolerance(0.5, 0.5, reason="r", component="image_encoder")),
    )
    terms = component_terms(found, CASE)
    assert set(terms) == {"image_encoder", "language_model", "lm_head"}
    assert terms["lm_head"].skip == ("onnx", "its head is wrong")
    assert terms["image_encoder"].exactness_reason == "it rounds"
    assert terms["image_encoder"].tolerance.atol == 0.5
    assert terms["language_model"].optimizer_off == "it folds"
    assert terms["language_model"].skip is None
    whole = terms_for(found, CASE)
    assert (whole.exactness_reason, whole.optimizer_off, whole.skip) == (None, None, None)
    assert found.skip_for(CASE) is None
    assert component_terms(found, CASE, run_skipped=True)["lm_head"].skip is None


def test_terms_cross_to_the_child() -> None:
    terms = {"head": Terms(Tolerance(1.0, 2.0), "e", "o", ("onnx", "r"))}
    asked = CaseRequest(
        CASE, "i", "m", "p", "t", "t", Tolerance(1.0, 1.0), RunSettings(), components=terms
    )
    assert CaseRequest.from_dict(asked.to_dict()) == asked


def test_a_component_that_ran_though_it_is_skipped_is_judged_by_its_entry() -> None:
    entry = Entry(EXPORT_SKIPS, Scope.parse("onnx"), CASE.model_class, Skip("s", component="b"), 1)
    session = Session(RunSettings(run_skipped=True), Registry([entry]))
    parts = [CaseResult.of(CASE, "i", Outcome.PASSED, component=name) for name in "ab"]
    whole = CaseResult.of(CASE, "i", Outcome.PASSED, components=parts)
    judged = session._with_judged_components(whole, CASE)
    assert by_name(judged) == {"a": Outcome.PASSED, "b": Outcome.XPASSED}
    assert judged.outcome is Outcome.XPASSED


# In a child


def request(test_class: str, timeout: float = 60.0) -> CaseRequest:
    return CaseRequest(
        case=ExportCase("Pair", None, "parted"),
        case_id="id of Pair",
        module=HOSTS.name,
        path=str(HOSTS.path),
        test_class=test_class,
        test_method="test_it",
        tolerance=Tolerance(1e-4, 1e-4),
        settings=RunSettings(),
        timeout=timeout,
    )


def test_a_component_that_kills_the_process_is_named_and_the_one_before_is_kept() -> None:
    result = runner.execute(request("Dying"))
    assert by_name(result) == {"encoder": Outcome.PASSED, "head": Outcome.CRASHED}
    assert (result.outcome, result.signal, result.stage) == (
        Outcome.CRASHED,
        "SIGABRT",
        "export",
    )
    assert result.message is not None
    assert result.message.startswith("In head: the process died by SIGABRT in stage 'export'")
    assert result.components[0].metrics


def test_a_component_that_hangs_is_named() -> None:
    result = runner.execute(request("Hanging", timeout=20.0))
    assert by_name(result) == {"encoder": Outcome.PASSED, "head": Outcome.TIMEOUT}
    assert result.outcome is Outcome.TIMEOUT


def test_a_journal_has_a_row_for_each_component_and_one_that_sums_them_up(tmp_path: Path) -> None:
    result = runner.execute(request("Well"))
    session = Session(journal=Journal(tmp_path))
    session.record(result, None)
    session.record(replace(result, components=result.components[:1]), None)
    rows = journal.read(tmp_path)
    assert [(row.component, row.attempt) for row in rows] == [("encoder", 2), (None, 2)]
    (case,) = cases_of(rows, rows).values()
    assert [row.component for row in case.components] == ["encoder"]
    first = journal.scan(tmp_path).attempts[:3]
    assert [row.component for row in first] == ["encoder", "head", None]
    assert all(not row.components for row in first)


# Audits


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ({"a": Outcome.FAILED, "b": Outcome.PASSED}, Verdict.STALE),
        ({"a": Outcome.PASSED, "b": Outcome.FAILED}, Verdict.NEEDED),
        ({"a": Outcome.CRASHED}, Verdict.NOT_RUN),
        ({}, Verdict.NOT_RUN),
    ],
)
def test_an_audit_judges_an_entry_by_the_component_that_it_names(
    outcomes: dict[str, Outcome], verdict: Verdict
) -> None:
    entry = Entry(EXPORT_SKIPS, Scope.parse("onnx"), CASE.model_class, Skip("s", component="b"), 1)
    asked = CaseRequest(CASE, "i", "m", "p", "t", "t", Tolerance(1.0, 1.0), RunSettings())
    parts = [CaseResult.of(CASE, "i", o, component=name) for name, o in outcomes.items()]
    whole = CaseResult.of(CASE, "i", Outcome.PASSED)
    result = rolled_up(whole, parts) if parts else whole
    found = judge(
        Plan(entry, {CASE: (asked,)}), {digest_of(asked): result}, recorded_cause(entry, [entry])
    )
    assert found.verdict is verdict


# In pytest


def test_each_component_is_a_subtest_of_its_case(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def execute(asked: CaseRequest) -> CaseResult:
        ended = {"encoder": Outcome.PASSED, "head": Outcome.FAILED}
        whole = CaseResult.of(asked.case, asked.case_id, Outcome.PASSED)
        return rolled_up(whole, [replace(whole, component=n, outcome=o) for n, o in ended.items()])

    monkeypatch.setattr(execution, "execute", execute)
    host(project, "BertModel")
    result = run(project, *NEURON, "--results", "r", "-k", "static")
    result.stdout.fnmatch_lines(["SUBFAILED(component='head') *", "FAILED *static_BertModel*"])
    rows = journal.read(project.path / "r")
    assert {row.component: row.outcome for row in rows} == {
        "encoder": Outcome.PASSED,
        "head": Outcome.FAILED,
        None: Outcome.FAILED,
    }
