"""What a session does with variants: delegates that are not here, and what says nothing."""

from __future__ import annotations

import pytest

import exporters
from exporters.base import Variant
from testing import execution, session
from testing.cases import ExportCase, cases_of
from testing.results import CaseResult, Outcome
from testing.session import Planned, Session
from testing.settings import CaseRequest, RunSettings
from tests.testing import stubs

HERE, ABSENT, SAYS_NOTHING = stubs.DelegatesStub.variants


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[ExportCase]:
    """The cases that were run; each passes."""
    monkeypatch.setitem(exporters.BACKENDS, "executorch", "tests.testing.stubs:DelegatesStub")
    cases: list[ExportCase] = []

    def execute(request: CaseRequest) -> CaseResult:
        cases.append(request.case)
        return CaseResult.of(request.case, request.case_id, Outcome.PASSED)

    monkeypatch.setattr(execution, "execute", execute)
    return cases


def result_of(variant: Variant) -> CaseResult:
    case = ExportCase.of("BertModel", "bert", stubs.DelegatesStub(), variant)
    test = session.TestMethod("module", "module.py", "BertExportTest", "test")
    return Session(RunSettings(slow=True)).result_of(Planned(case, "id", test))


def test_a_delegate_that_is_here_runs(ran: list[ExportCase]) -> None:
    assert result_of(HERE).outcome is Outcome.PASSED
    assert [case.as_variant for case in ran] == [HERE]


def test_one_that_is_not_is_skipped_with_the_command_that_installs_it(
    ran: list[ExportCase],
) -> None:
    result = result_of(ABSENT)
    assert result.outcome is Outcome.SKIPPED
    assert result.reason == "mlx is not built in. Install it with: pip install mlx"
    assert result.runtime == "mlx"
    assert not ran


def test_a_variant_that_says_nothing_of_any_model_is_not_applicable_anywhere(
    ran: list[ExportCase],
) -> None:
    result = result_of(SAYS_NOTHING)
    assert result.outcome is Outcome.NOT_APPLICABLE
    assert result.message == "mlx does not grow"
    assert not ran


def test_each_delegate_is_a_case_of_its_own_and_no_runtime(ran: list[ExportCase]) -> None:
    cases = [case for case in cases_of("BertModel") if case.backend == "executorch"]
    assert [(case.runtime, case.as_variant) for case in cases] == [
        (None, HERE),
        (None, ABSENT),
        (None, SAYS_NOTHING),
    ]
