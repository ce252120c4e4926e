"""The verdict on an entry, from the results of its cases with the entry lifted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from testing.audit.journal import digest_of
from testing.audit.narrowing import narrower
from testing.audit.planning import Plan
from testing.cases import ExportCase
from testing.registry import Entry
from testing.registry.causes import Cause
from testing.reports.names import column_of
from testing.reports.wording import headline
from testing.results import CaseResult, Outcome
from testing.scopes import Scope
from testing.session import is_incompatibility
from testing.settings import CaseRequest

__all__ = ["AuditedCase", "Attempt", "CaseState", "Finding", "Verdict", "judge"]


class Verdict(str, Enum):
    """What is to be done with an entry."""

    STALE = "stale"
    CHANGED = "changed"
    TOO_BROAD = "too broad"
    FLAKY = "flaky"
    NOT_RUN = "not run"
    NEEDED = "needed"

    @property
    def is_finding(self) -> bool:
        """Whether somebody has to edit the file."""
        return self not in (Verdict.NEEDED, Verdict.NOT_RUN)


class CaseState(str, Enum):
    """What the runs of one case say together."""

    PASSES = "passes"
    FAILS = "fails"
    FLAKY = "flaky"
    NOT_APPLICABLE = "not applicable"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Attempt:
    """One run of a case.

    Attributes:
        seed: Seed of weights and inputs.
        result: How it ended; None where the audit was interrupted before.
    """

    seed: int
    result: CaseResult | None

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        return self.result is not None and self.result.outcome is Outcome.PASSED

    @property
    def skipped(self) -> bool:
        """Whether the test skipped itself."""
        return self.result is not None and self.result.outcome is Outcome.SKIPPED

    @property
    def not_applicable(self) -> bool:
        """Whether the case says nothing of this model, with the entry or without."""
        return self.result is not None and self.result.outcome is Outcome.NOT_APPLICABLE

    @property
    def failed(self) -> bool:
        """Whether the model failed; that the toolkit does not fit is no fault of the model."""
        result = self.result
        return result is not None and result.outcome.is_failure and not is_incompatibility(result)


@dataclass(frozen=True)
class AuditedCase:
    """The runs of one case."""

    case: ExportCase
    attempts: tuple[Attempt, ...]

    @property
    def state(self) -> CaseState:
        """What they say together."""
        if self.count_passed and self.count_failed:
            return CaseState.FLAKY
        # The next run of one that was interrupted may end in another way.
        is_whole = all(a.passed or a.failed or a.not_applicable for a in self.attempts)
        if not is_whole:
            return CaseState.NOT_RUN
        if self.count_failed:
            return CaseState.FAILS
        return CaseState.PASSES if self.count_passed else CaseState.NOT_APPLICABLE

    @property
    def count_passed(self) -> int:
        """How often it passed."""
        return sum(attempt.passed for attempt in self.attempts)

    @property
    def count_failed(self) -> int:
        """How often it failed."""
        return sum(attempt.failed for attempt in self.attempts)

    @property
    def failures(self) -> Iterator[CaseResult]:
        """The results that failed."""
        return (a.result for a in self.attempts if a.failed and a.result is not None)

    @property
    def name(self) -> str:
        """``neuron/xla static``."""
        return column_of(CaseResult.of(self.case, "", Outcome.SKIPPED))

    @property
    def told(self) -> str:
        """Its runs in one line."""
        runs = len(self.attempts)
        match self.state:
            case CaseState.PASSES:
                return f"{self.name} passed {self.count_passed} of {runs}"
            case CaseState.FAILS | CaseState.FLAKY:
                heads = dict.fromkeys(map(headline, self.failures))
                seeds = [str(a.seed) for a in self.attempts if a.failed]
                where = f" (seed {', '.join(dict.fromkeys(seeds))})" if self.count_passed else ""
                failed = f"failed {self.count_failed} of {runs}{where}"
                return f"{self.name} {failed}: {'; or '.join(heads)}"
            case state:
                return f"{self.name} {state.value}: {self._obstacle()}"

    def _obstacle(self) -> str:
        done = [a.result for a in self.attempts if a.result is not None]
        if len(done) < len(self.attempts):
            return f"interrupted after {len(done)} of {len(self.attempts)} runs"
        return next((r.reason or headline(r) for r in done), "it was not asked for")


@dataclass(frozen=True)
class Finding:
    """What the audit found of one entry.

    Attributes:
        entry: The entry.
        verdict: What is to be done with it.
        message: What was seen.
        proposed: The narrower scopes that would do, where it is too broad.
        changes: In what failures differ from the recorded reason.
        cases: The cases that were run, with their runs.
    """

    entry: Entry
    verdict: Verdict
    message: str
    proposed: tuple[Scope, ...] = ()
    changes: tuple[str, ...] = ()
    cases: tuple[AuditedCase, ...] = field(default=())


def judge(plan: Plan, results: Mapping[str, CaseResult], cause: Cause) -> Finding:
    """The verdict on one entry.

    Args:
        plan: What was to be run.
        results: What came, by `digest_of` its request.
        cause: What the reason of the entry tells.
    """
    cases = tuple(
        AuditedCase(case, tuple(_attempts(requests, results, plan.entry.value.component)))
        for case, requests in plan.requests.items()
    )
    changes = tuple(dict.fromkeys(_changes(cases, cause)))
    verdict = _verdict(cases, plan.obstacles, changes)
    proposed = _proposed(plan.entry, cases) if verdict is Verdict.TOO_BROAD else ()
    return Finding(plan.entry, verdict, _told(plan, cases), proposed, changes, cases)


def _of_component(result: CaseResult | None, component: str | None) -> CaseResult | None:
    """The result of the component that is meant; None where a case ended without it.

    What ended before it came to its components stands for each of them.
    """
    if result is None or component is None or not result.components:
        is_none = result is not None and component and not result.outcome.is_failure
        return None if is_none else result
    return next((part for part in result.components if part.component == component), None)


def _attempts(
    requests: Iterable[CaseRequest], results: Mapping[str, CaseResult], component: str | None
) -> Iterator[Attempt]:
    """The runs of one case; of several tests those count that do not skip it themselves."""
    by_test: dict[tuple[str, str], list[Attempt]] = {}
    for request in requests:
        attempt = Attempt(request.seed, _of_component(results.get(digest_of(request)), component))
        by_test.setdefault((request.module, request.test_class), []).append(attempt)
    running = [found for found in by_test.values() if not all(a.skipped for a in found)]
    for found in running or by_test.values():
        yield from found


def _verdict(
    cases: Sequence[AuditedCase], obstacles: Mapping[str, str], changes: Sequence[str]
) -> Verdict:
    states = {case.state for case in cases}
    if CaseState.FLAKY in states:
        return Verdict.FLAKY
    if {CaseState.FAILS, CaseState.PASSES} <= states:
        return Verdict.TOO_BROAD
    if CaseState.FAILS in states:
        return Verdict.CHANGED if changes else Verdict.NEEDED
    # What was not run may be what needs the entry.
    is_whole = not obstacles and CaseState.NOT_RUN not in states
    return Verdict.STALE if is_whole and CaseState.PASSES in states else Verdict.NOT_RUN


def _changes(cases: Iterable[AuditedCase], cause: Cause) -> Iterator[str]:
    """In what a failure is not the recorded one."""
    for case in cases:
        for result in case.failures:
            if differences := "; ".join(cause.differences(result)):
                yield f"{case.name}: {differences}"


def _proposed(entry: Entry, cases: Sequence[AuditedCase]) -> tuple[Scope, ...]:
    failing = [case.case for case in cases if case.state is CaseState.FAILS]
    passing = [case.case for case in cases if case.state is CaseState.PASSES]
    return narrower(entry.scope, failing, passing)


def _told(plan: Plan, cases: Sequence[AuditedCase]) -> str:
    skipped = [f"{name}: {why}" if name else why for name, why in plan.obstacles.items()]
    return "\n".join([*(case.told for case in cases), *skipped])
