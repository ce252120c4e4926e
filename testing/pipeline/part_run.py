"""The run of one part: what its stages share, and the result that is made of however they end."""

from __future__ import annotations

import resource
import unittest
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeVar

import pytest

from exporters.base import Backend, BackendUnavailableError, ExportedModel, RuntimeLimitError
from testing.comparison import Comparison
from testing.faults import describe_error, readable, source_of
from testing.not_applicable import NotApplicableError
from testing.pipeline.clock import Clock
from testing.pipeline.trials import Run, Trial, run_once
from testing.results import CHANGED_FLAG, RUNTIME_LIMIT, CaseResult, Outcome
from testing.settings import CaseRequest, Terms
from testing.versions import versions_of

__all__ = ["PartRun"]

_T = TypeVar("_T")

_SKIPS: Final = (unittest.SkipTest, pytest.skip.Exception, BackendUnavailableError)
# pytest.fail's exception is no Exception, and a model's test may well raise it.
_FAULTS: Final = (Exception, pytest.fail.Exception)


class _PartEndedError(Exception):
    """A stage has decided the outcome, and no later stage has anything to add."""

    def __init__(self, outcome: Outcome, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message


@dataclass
class PartRun:
    """What the stages of one part share.

    Attributes:
        request: What was asked.
        terms: What was asked of this part.
        result: What is known so far.
        clock: Tells and times its stages.
        files: Files that define the model, to find its line in a traceback.
        changed_flags: What of the model is not as transformers has it; every result says so.
        trial: The trial that runs, None between them.
        exported: The exported program, once there is one.
        failed_at: The stage that failed, where later ones ran all the same.
    """

    request: CaseRequest
    terms: Terms
    result: CaseResult
    clock: Clock
    files: set[str] = field(default_factory=set)
    changed_flags: tuple[str, ...] = ()
    trial: Trial | None = None
    exported: ExportedModel | None = None
    failed_at: str | None = None

    @classmethod
    def of(
        cls, request: CaseRequest, component: str | None, on_stage: Callable[[str], None]
    ) -> PartRun:
        """A run that has not begun."""
        result = CaseResult.of(request.case, request.case_id, Outcome.PASSED, component=component)
        terms = request.terms_of(component)
        return cls(request, terms, result, Clock(on_stage), {request.path})

    def attempt(self, step: Callable[[], _T]) -> _T | None:
        """Take a step; None, and an outcome in the result, where it does not succeed."""
        result = self.result
        try:
            return step()
        except _PartEndedError as ended:
            result.outcome, result.message = ended.outcome, ended.message
        except _SKIPS as skip:
            result.outcome, result.reason = Outcome.SKIPPED, readable(str(skip))
        except RuntimeLimitError as limit:
            result.outcome = Outcome.SKIPPED
            result.reason = f"{RUNTIME_LIMIT}{readable(str(limit))}"
        except NotApplicableError as error:
            result.outcome, result.message = Outcome.NOT_APPLICABLE, readable(str(error))
        except _FAULTS as error:
            self._record_fault(error)
        return None

    def unless_skipped(self, step: Callable[[], object]) -> None:
        """Take a step, or leave the part out where an entry of ``skips.py`` says so."""
        if self.terms.skip is None:
            self.attempt(step)
            return
        self.result.outcome = Outcome.SKIPPED
        self.result.scope, self.result.reason = self.terms.skip

    def run(self, call: Callable[[dict[str, Any]], Any], trial: Trial) -> Run:
        """Run a trial; one that raises stays the current one, for the message."""
        self.trial = trial
        found = run_once(call, trial.inputs, trial.seed)
        self.trial = None
        return found

    def end(self, outcome: Outcome, message: str, found: Comparison | None = None) -> NoReturn:
        """End the part with the figures of `found`."""
        self.result.metrics = found.metrics if found else {}
        raise _PartEndedError(outcome, message)

    def finished(self, backend: Backend | None) -> CaseResult:
        """The result with what every result says."""
        self.clock.end()
        result = self.result
        result.stage = self.failed_at or self.clock.current
        result.seconds = self.clock.seconds
        lines = [readable(result.message)] if result.message else []
        lines += [f"{CHANGED_FLAG}{flag}." for flag in self.changed_flags]
        result.message = "\n".join(lines) or None
        result.peak_rss_mb = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
        result.versions = versions_of(backend.distributions if backend else ())
        return result

    def _record_fault(self, error: BaseException) -> None:
        result = self.result
        where = f"\nOn {self.trial.label}." if self.trial else ""
        result.outcome, result.message = Outcome.FAILED, describe_error(error) + where
        result.source = _text(error, "source") or source_of(error, self.files)
        result.op, result.operand = _text(error, "op"), _text(error, "operand")
        result.op_source = "guard" if result.op else None


def _text(error: BaseException, attribute: str) -> str | None:
    """What a backend's error says of itself; other libraries use the same names for more."""
    value = getattr(error, attribute, None)
    return readable(value) if isinstance(value, str) else None
