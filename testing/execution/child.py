"""One case from the import of its test module to the result; runs in a child or in process."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from types import ModuleType
from typing import Any, Final

import pytest

from exporters import BACKENDS, register
from testing import pipeline
from testing.faults import describe_error, readable, source_of
from testing.isolation import ModuleSpec, load_module
from testing.isolation.worker import Reporter
from testing.results import CaseResult, Outcome
from testing.settings import CaseRequest

__all__ = ["UnreachableTestClassError", "main", "run_case"]

_SKIPS: Final = (unittest.SkipTest, pytest.skip.Exception)
# A SystemExit of a model's code is a fault of the model; Ctrl-C is not.
_FAULTS: Final = (Exception, SystemExit, pytest.fail.Exception)


class UnreachableTestClassError(LookupError):
    """A test class does not stand in its module under its own name, where a child looks for it."""

    def __init__(self, name: str, module: str) -> None:
        super().__init__(
            f"{name} cannot be found by the process that runs the case, which imports {module} "
            "and takes the class by its name; define it at the top of the module, outside any "
            "function"
        )


def main(payload: dict[str, Any], report: Reporter) -> dict[str, Any]:
    """The target of an isolated child: a request and a result, both as JSON carries them.

    The parent says where the backend is, which code of its own may have registered.
    """
    backend, place = payload["case"]["backend"], payload.pop("place")
    if backend not in BACKENDS:
        register(backend, place)
    request = CaseRequest.from_dict(payload)
    return run_case(request, report, lambda part: report.part(part.to_row())).to_row()


def run_case(
    request: CaseRequest,
    report: Callable[[str], None],
    on_part: Callable[[CaseResult], None] = lambda part: None,
) -> CaseResult:
    """Run one case with the fixtures of its test class around it.

    Args:
        request: The case and how it is run.
        report: Called with the name of each stage as it begins: ``import``, ``setup``, the
            pipeline's own, ``teardown``.
        on_part: Called with the result of each component as it ends.

    Returns:
        The result; whatever the test class or the model raises is in it.
    """
    host = _Host(request, report, on_part)
    result = host.attempt(host.set_up) or host.run()
    trouble = host.attempt(host.tear_down)
    return _with_trouble(result, trouble) if trouble else result


class _Host:
    """The test class of a case, used without unittest's runner."""

    def __init__(
        self,
        request: CaseRequest,
        report: Callable[[str], None],
        on_part: Callable[[CaseResult], None],
    ) -> None:
        self._request = request
        self._report = report
        self._on_part = on_part
        self._stage = "import"
        self._test: Any = None
        # What ends the fixtures that began, the last one first.
        self._ends: list[Callable[[], object]] = []

    def attempt(self, step: Callable[[], None]) -> CaseResult | None:
        """Take a step; the result of the case when the step does not succeed."""
        try:
            step()
        except _SKIPS as skip:
            return self._result(Outcome.SKIPPED, reason=readable(str(skip)))
        except _FAULTS as error:
            return self._failure(error)
        return None

    def set_up(self) -> None:
        self._enter("import")
        module = load_module(ModuleSpec(self._request.module, self._request.path))
        test_class = _class_in(module, self._request.test_class)
        self._enter("setup")
        self._test = test_class(self._request.test_method)
        self._test.export_seed = self._request.seed
        self._ends.append(test_class.doClassCleanups)
        test_class.setUpClass()
        self._ends += [test_class.tearDownClass, self._test.doCleanups]
        self._test.setUp()
        self._ends.append(self._test.tearDown)

    def run(self) -> CaseResult:
        """The pipeline's result."""
        case = self._request.case
        try:
            return pipeline.run(
                self._request,
                lambda: self._test.subject_of(case),
                self._enter,
                on_part=self._on_part,
            )
        except _FAULTS as error:
            return self._failure(error)

    def tear_down(self) -> None:
        """End every fixture that began, also when one of them raises; the first error counts."""
        errors: list[BaseException] = []
        if self._ends:
            self._enter("teardown")
        while self._ends:
            try:
                self._ends.pop()()
            except _FAULTS as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def _enter(self, stage: str) -> None:
        self._stage = stage
        self._report(stage)

    def _failure(self, error: BaseException) -> CaseResult:
        return self._result(
            Outcome.FAILED,
            message=describe_error(error),
            source=source_of(error, [self._request.path]),
        )

    def _result(self, outcome: Outcome, **values: Any) -> CaseResult:
        return CaseResult.of(
            self._request.case, self._request.case_id, outcome, stage=self._stage, **values
        )


def _class_in(module: ModuleType, name: str) -> Any:
    try:
        return reduce(getattr, name.split("."), module)
    except AttributeError:
        raise UnreachableTestClassError(name, module.__name__) from None


def _with_trouble(result: CaseResult, trouble: CaseResult) -> CaseResult:
    """The result of a case whose fixtures did not end well: a failure, also where it was none."""
    if trouble.outcome is not Outcome.FAILED:
        return result
    if result.outcome.is_failure:
        return replace(result, message=f"{result.message}\nThen at teardown: {trouble.message}")
    return replace(
        result,
        outcome=trouble.outcome,
        stage=trouble.stage,
        source=trouble.source,
        message=trouble.message,
    )
