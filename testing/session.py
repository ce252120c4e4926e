"""One run of the harness: its options, skips and journal, and how a case goes through them."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from exporters import get_backend
from exporters.base import BackendIncompatibleError, BackendUnavailableError
from testing.cases import ExportCase
from testing.journal import Journal
from testing.registry import Entry, Registry
from testing.registry.causes import recorded_cause
from testing.reports.wording import headline
from testing.results import CaseResult, Outcome
from testing.resume import Basis, Finished
from testing.rolling_up import rolled_up
from testing.settings import CaseRequest, RunSettings
from testing.shards import Shard
from testing.terms import component_skip, component_terms, terms_for
from testing.timeouts import DEFAULT_TIMEOUT

__all__ = [
    "SESSION",
    "SLOW_REASON",
    "Planned",
    "Session",
    "TestMethod",
    "default_session",
    "is_incompatibility",
    "is_slow_run",
]

SLOW_REASON: Final = "slow: run it with --slow or RUN_SLOW=1"
"""Why a slow test was skipped."""

_TRUE: Final = ("1", "true", "yes", "on")


@dataclass(frozen=True)
class Planned:
    """One case as its test method asks for it.

    Attributes:
        case: The case, its runtime still open.
        case_id: pytest's node id, or another unique name.
        test: Module, file, class and method that prepare the model.
        timeout: Seconds that the case may take.
        refusal: Why the test class cannot have this case at all; it fails with that.
        waiver: Why the test class does not want it; it is skipped with that.
    """

    case: ExportCase
    case_id: str
    test: TestMethod
    timeout: float = DEFAULT_TIMEOUT
    refusal: str | None = None
    waiver: str | None = None


@dataclass(frozen=True)
class TestMethod:
    """Where a child finds the test: module name, its file, class and method."""

    module: str
    path: str
    test_class: str
    test_method: str


@dataclass
class Session:
    """What every case of a run shares.

    Attributes:
        settings: The run's options.
        registry: Entries of ``skips.py``.
        journal: Where results are appended; None keeps none.
        attempts: How often each case was recorded before, by case id.
        recorded: Case ids that have a result of the item that runs now or ran last.
        tolerated: Case ids that passed although an entry skips them, where that fails nothing,
            each with the entry.
        shared: Directory that the workers of the run share; None where there are none.
        shard: The share of the model classes that is run; None runs all.
        uncollected: Modules that could not be collected before, by their node ids.
        finished: Cases that had a result when the run began, where it resumes another.
    """

    settings: RunSettings = field(default_factory=RunSettings)
    registry: Registry = field(default_factory=Registry)
    journal: Journal | None = None
    attempts: Counter[str] = field(default_factory=Counter)
    recorded: set[str] = field(default_factory=set)
    tolerated: dict[str, str] = field(default_factory=dict)
    shared: Path | None = None
    shard: Shard | None = None
    uncollected: frozenset[str] = frozenset()
    finished: Finished | None = None
    _incompatible: dict[tuple[str, str | None], str] = field(default_factory=dict)

    def result_of(self, planned: Planned) -> CaseResult:
        """Decide on a case, run it unless it is skipped, and append its result."""
        return self.record(self._decide(planned), planned.case)

    def has_result(self, case: ExportCase, case_id: str) -> bool:
        """Whether a case that this run resumes has a result that still holds."""
        if self.finished is None:
            return False
        return self.finished.holds(case_id, Basis.of(case, self.settings, self.registry))

    def is_first(self, what: str) -> bool:
        """Whether no worker has asked this before; where there are none, this one is the first."""
        if self.shared is None:
            return True
        name = hashlib.sha256(what.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        try:
            (self.shared / f"first-{name}").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def record(self, result: CaseResult, case: ExportCase | None) -> CaseResult:
        """Append a result to the journal, numbered as an attempt of its case.

        Args:
            result: The result.
            case: Its case; None where it is of a module that could not be collected.
        """
        self.attempts[result.case_id] += 1
        self.recorded.add(result.case_id)
        basis = Basis.of(case, self.settings, self.registry) if case else Basis()
        result, *components = (
            dataclasses.replace(
                row,
                attempt=self.attempts[result.case_id],
                retried=result.retried,
                runtime=row.runtime or basis.runtime,
                versions=row.versions or dict(basis.versions),
                conditions=dict(basis.conditions),
            )
            for row in (result, *result.components)
        )
        if self.journal is not None:
            # The row that sums them up is last: what has it, is complete.
            for row in (*components, dataclasses.replace(result, components=[])):
                self.journal.append(row)
        return result

    def _decide(self, planned: Planned) -> CaseResult:
        fact = get_backend(planned.case.backend).not_applicable(planned.case.as_variant)
        if fact:
            return _ended(planned, Outcome.NOT_APPLICABLE, message=fact)
        try:
            planned = self._with_runtime(planned)
        except BackendUnavailableError as error:
            return _ended(planned, Outcome.SKIPPED, reason=str(error))
        except BackendIncompatibleError as error:
            return self._incompatible_with(planned, str(error))
        if planned.refusal:
            return _ended(planned, Outcome.FAILED, stage="collect", message=planned.refusal)
        if planned.waiver:
            return _ended(planned, Outcome.SKIPPED, reason=planned.waiver)
        return self._skip_or_run(planned)

    def _skip_or_run(self, planned: Planned) -> CaseResult:
        entry = self.registry.skip_for(planned.case)
        if entry and not self.settings.run_skipped:
            return _skipped(planned, entry)
        if not self.settings.slow:
            return _ended(planned, Outcome.SKIPPED, reason=SLOW_REASON)
        known = self._incompatible.get((planned.case.backend, planned.case.runtime))
        if known:
            return _ended(planned, Outcome.SKIPPED, reason=f"not run again: {known}")
        return self._execute(planned, entry)

    def _execute(self, planned: Planned, entry: Entry | None) -> CaseResult:
        result = self._last_try(planned)
        if is_incompatibility(result):
            # It is no finding about the model, so no entry expects it.
            return self._incompatible_with(planned, result.message or "", result)
        result = self._with_judged_components(result, planned.case)
        return self._judged(result, entry) if entry else result

    def _last_try(self, planned: Planned) -> CaseResult:
        """Run a case, again where it dies; each try before the last gets a row of its own.

        What hung is not tried again: a try costs its whole limit, and few hangs are flaky.
        """
        from testing.execution import execute

        deaths: list[str] = []
        while True:
            result = dataclasses.replace(execute(self._request(planned)), deaths=deaths)
            died = result.outcome is Outcome.CRASHED
            if not died or len(deaths) == self.settings.crash_retries:
                return result
            self.record(dataclasses.replace(result, retried=True), planned.case)
            deaths = [*deaths, headline(result)]

    def _with_judged_components(self, result: CaseResult, case: ExportCase) -> CaseResult:
        """The result with its components judged that ran although an entry skips them alone."""
        if not (self.settings.run_skipped and result.components):
            return result
        entries = [
            (part, component_skip(self.registry, case, part.component))
            for part in result.components
        ]
        if not any(entry for _, entry in entries):
            return result
        parts = [self._judged(part, entry) if entry else part for part, entry in entries]
        whole = dataclasses.replace(result, message=None, seconds={}, components=[])
        return dataclasses.replace(rolled_up(whole, parts), seconds=result.seconds)

    def _judged(self, result: CaseResult, entry: Entry) -> CaseResult:
        """The result of a case that an entry skips: still needed, stale, or of another cause."""
        told = dataclasses.replace(result, scope=str(entry.scope), reason=entry.reason)
        if result.outcome is Outcome.PASSED:
            return dataclasses.replace(told, outcome=Outcome.XPASSED)
        if not result.outcome.is_failure:
            return told
        cause = recorded_cause(entry, self.registry.entries)
        differences = "; ".join(cause.differences(result))
        if not differences:
            return dataclasses.replace(told, outcome=Outcome.XFAILED)
        # What was written down excuses that and nothing else.
        outcome = result.outcome if self.settings.strict_skips else Outcome.XFAILED
        note = f"The entry names another cause: {differences}."
        message = f"{result.message}\n{note}" if result.message else note
        return dataclasses.replace(told, outcome=outcome, message=message)

    def _incompatible_with(
        self, planned: Planned, message: str, result: CaseResult | None = None
    ) -> CaseResult:
        """The toolkit has another interface than the backend expects: said once, as a failure."""
        key = (planned.case.backend, planned.case.runtime)
        is_known = key in self._incompatible or not self.is_first(f"incompatible {key}")
        self._incompatible[key] = message
        if is_known:
            return _ended(planned, Outcome.SKIPPED, reason=f"not run again: {message}")
        return result or _ended(planned, Outcome.FAILED, stage="export", message=message)

    def _with_runtime(self, planned: Planned) -> Planned:
        backend = get_backend(planned.case.backend)
        case = dataclasses.replace(planned.case, runtime=self.settings.runtime_of(backend))
        backend.require_delegate(case.delegate)
        if case.generate:
            backend.require_generation()
        return dataclasses.replace(planned, case=case)

    def _request(self, planned: Planned) -> CaseRequest:
        case = planned.case
        terms = terms_for(self.registry, case)
        return CaseRequest(
            case=case,
            case_id=planned.case_id,
            **dataclasses.asdict(planned.test),
            tolerance=terms.tolerance,
            settings=self.settings,
            exactness_reason=terms.exactness_reason,
            timeout=planned.timeout,
            guard=self.settings.lowering_guard,
            optimizer_off=terms.optimizer_off,
            components=component_terms(self.registry, case, self.settings.run_skipped),
        )


SESSION = pytest.StashKey[Session]()
"""Where pytest's config holds the session of the run."""


@cache
def default_session() -> Session:
    """The session of a run without the pytest plugin: defaults, the shipped skips, no journal."""
    return Session(RunSettings(slow=is_slow_run(os.environ)), Registry.load())


def is_slow_run(environment: Mapping[str, str]) -> bool:
    """Whether ``RUN_SLOW`` asks for slow tests, as transformers' own tests read it."""
    return environment.get("RUN_SLOW", "").lower() in _TRUE


def _ended(planned: Planned, outcome: Outcome, **values: str | None) -> CaseResult:
    return CaseResult.of(planned.case, planned.case_id, outcome, **values)


def _skipped(planned: Planned, entry: Entry) -> CaseResult:
    return _ended(planned, Outcome.SKIPPED, scope=str(entry.scope), reason=entry.reason)


def is_incompatibility(result: CaseResult) -> bool:
    """Whether the toolkit has another interface than the backend expects: no model is to blame."""
    message = result.message or ""
    return result.outcome is Outcome.FAILED and message.startswith(
        BackendIncompatibleError.__name__
    )
