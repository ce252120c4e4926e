"""One case from the import of its test module to the result; runs in a child or in process."""

from __future__ import annotations

import json
import unittest
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

from testing import pipeline
from testing.isolation import ModuleSpec, load_module
from testing.isolation.wire import as_text
from testing.results import CaseResult, Outcome
from testing.settings import CaseRequest
from testing.sources import frames_of, model_source
from testing.subject import Subject

__all__ = ["main", "run_case"]

# A SystemExit of a model's code is a fault of the model; Ctrl-C is not.
_FAULTS = (Exception, SystemExit)


def main(payload: dict[str, Any], report: Callable[[str], None]) -> dict[str, Any]:
    """The target of an isolated child: a request and a result, both as JSON carries them."""
    result = run_case(CaseRequest.from_dict(payload), report)
    row: dict[str, Any] = json.loads(result.to_json())
    return row


def run_case(request: CaseRequest, report: Callable[[str], None]) -> CaseResult:
    """Run one case with the fixtures of its test class around it.

    Args:
        request: The case and how it is run.
        report: Called with the name of each stage as it begins.

    Returns:
        The result; whatever the test class or the model raises is in it.
    """
    host = _Host(request, report)
    result = host.attempt(host.set_up) or host.run()
    trouble = host.attempt(host.tear_down)
    return _with_trouble(result, trouble) if trouble else result


class _Host:
    """The test class of a case, used without unittest's runner."""

    def __init__(self, request: CaseRequest, report: Callable[[str], None]) -> None:
        self._request = request
        self._report = report
        self._stage = "import"
        self._skip: unittest.SkipTest | None = None
        # What ends the fixtures that began, run in reverse order.
        self._ends: list[Callable[[], object]] = []
        self._subject: Callable[[str], Subject] | None = None

    def attempt(self, step: Callable[[], None]) -> CaseResult | None:
        """Take a step; the result of the case when it does not succeed."""
        try:
            step()
        except unittest.SkipTest as skip:
            return self._result(Outcome.SKIPPED, reason=as_text(skip))
        except _FAULTS as error:
            return self._failure(error)
        return None

    def set_up(self) -> None:
        self._enter("import")
        module = load_module(ModuleSpec(self._request.module, self._request.path))
        test_class: Any = reduce(getattr, self._request.test_class.split("."), module)
        self._enter("setup")
        test = test_class(self._request.test_method)
        self._subject = test.subject
        self._ends.append(test_class.doClassCleanups)
        test_class.setUpClass()
        self._ends += [test_class.tearDownClass, test.doCleanups]
        test.setUp()
        self._ends.append(test.tearDown)

    def run(self) -> CaseResult:
        """The pipeline's result; a skip while the subject is made is a skip of the case."""
        try:
            result = pipeline.run(self._request, self._prepare, self._enter)
        except _FAULTS as error:
            return self._failure(error)
        if self._skip is not None:
            return self._result(Outcome.SKIPPED, reason=as_text(self._skip))
        return result

    def tear_down(self) -> None:
        """End every fixture that began, also when one of them raises; the first error counts."""
        errors = []
        if self._ends:
            self._enter("teardown")
        while self._ends:
            try:
                self._ends.pop()()
            except _FAULTS as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def _prepare(self) -> Subject:
        assert self._subject is not None
        try:
            return self._subject(self._request.case.model_class)
        except unittest.SkipTest as skip:
            self._skip = skip
            raise

    def _enter(self, stage: str) -> None:
        self._stage = stage
        self._report(stage)

    def _failure(self, error: BaseException) -> CaseResult:
        return self._result(
            Outcome.FAILED,
            message=f"{type(error).__name__}: {as_text(error)}",
            source=model_source(frames_of(error.__traceback__), self._request.path),
        )

    def _result(self, outcome: Outcome, **values: Any) -> CaseResult:
        return CaseResult.of(
            self._request.case, self._request.case_id, outcome, stage=self._stage, **values
        )


def _with_trouble(result: CaseResult, trouble: CaseResult) -> CaseResult:
    """The result of a case whose fixtures did not end well: a failure, unless it was one."""
    if trouble.outcome is Outcome.SKIPPED:
        return result
    if not result.outcome.is_failure:
        return replace(
            result,
            outcome=trouble.outcome,
            stage=trouble.stage,
            source=trouble.source,
            message=trouble.message,
        )
    return replace(result, message=f"{result.message}\nthen at teardown: {trouble.message}")
