"""One audit: plans the entries, runs what is not known yet, and judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from testing.audit.journal import FILE_NAME, AttemptJournal, Key, digest_of
from testing.audit.planning import Plan, Planner
from testing.audit.record import Audit, now
from testing.audit.selection import Filter, selected
from testing.audit.settings import AuditSettings
from testing.audit.verdicts import judge
from testing.coverage import declared
from testing.devices import most_workers
from testing.parallel import run_all
from testing.registry import DEFAULT_PATH, Registry
from testing.registry.audits import DEFAULT_AUDITS
from testing.registry.causes import recorded_cause
from testing.results import CaseResult
from testing.settings import CaseRequest

__all__ = ["AuditRequest", "Execute", "Progress", "audit"]

Execute = Callable[[CaseRequest], CaseResult]
"""Runs a case to its result, as `testing.execution.execute` does."""
Progress = Callable[[CaseRequest, CaseResult, int, int], None]
"""Told of each run that ended: its request, its result, which it was, and of how many."""


@dataclass(frozen=True)
class AuditRequest:
    """What is asked.

    Attributes:
        skips: The file.
        wanted: Which of its entries.
        settings: How cases are run.
        tests: Directory of test modules.
        directory: Where results and the journal are.
        workers: How many cases run at a time; one a core by default.
        is_fresh: Whether runs that the journal has are done again.
    """

    skips: Path = DEFAULT_PATH
    wanted: Filter = field(default_factory=Filter)
    settings: AuditSettings = field(default_factory=AuditSettings)
    tests: Path = declared.DEFAULT_TESTS
    directory: Path = DEFAULT_AUDITS
    workers: int | None = None
    is_fresh: bool = False


def audit(request: AuditRequest, execute: Execute, progress: Progress | None = None) -> Audit:
    """Audit the entries that are meant, and write what was found.

    Where it is interrupted, what came until then is judged and written all the same.

    Args:
        request: What is asked.
        execute: Runs one case, `testing.execution.execute`.
        progress: Told of each run.

    Raises:
        AuditError: It cannot be done.
        SkipFileError: The file has problems.
        RequestError: The test modules cannot be read.
    """
    registry = Registry.load(request.skips)
    entries = selected(registry.entries, request.wanted)
    tests = declared.read(request.tests)
    planner = Planner(registry, request.settings, lambda name: tests.hosts.get(name, ()))
    plans = [planner.plan(entry) for entry in entries]
    key = Key.here(request.tests)
    journal = AttemptJournal(request.directory / FILE_NAME, key)
    results = {} if request.is_fresh else journal.read()
    missing = _missing(plans, results)
    is_whole = _run(request, missing, results, journal, execute, progress)
    findings = tuple(judge(p, results, recorded_cause(p.entry, registry.entries)) for p in plans)
    found = Audit(request.skips, findings, request.settings, key.versions, now(), is_whole)
    found.write(request.directory)
    return found


def _missing(plans: Iterable[Plan], results: dict[str, CaseResult]) -> list[CaseRequest]:
    """What is not known yet, each once; what is the same for several entries is run for all."""
    requests = (r for plan in plans for found in plan.requests.values() for r in found)
    by_digest = {digest_of(request): request for request in requests}
    return [request for digest, request in by_digest.items() if digest not in results]


def _run(
    request: AuditRequest,
    missing: Sequence[CaseRequest],
    results: dict[str, CaseResult],
    journal: AttemptJournal,
    execute: Execute,
    progress: Progress | None,
) -> bool:
    """Run what is missing and keep each result as it comes; False where it was interrupted."""
    workers = request.workers or most_workers(request.settings.run)
    try:
        ran = run_all(missing, workers, lambda: nullcontext(execute))
        for number, (asked, result) in enumerate(ran, start=1):
            journal.append(asked, result)
            results[digest_of(asked)] = result
            if progress:
                progress(asked, result, number, len(missing))
    except KeyboardInterrupt:
        return False
    return True
