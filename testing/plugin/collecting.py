"""A module that cannot be collected has a row, so that its cases do not vanish unseen."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Final

import pytest

from testing.faults import readable
from testing.results import COLLECTION, CaseResult, Outcome
from testing.session import SESSION, Session

__all__ = ["uncollected"]

_VARIANT: Final = "error"


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Record what cannot be collected, and what can be again; of all workers the first does."""
    report = yield
    session = collector.config.stash.get(SESSION, None)
    if session is None:
        return report
    if report.failed and session.is_first(f"collection error {report.nodeid}"):
        session.record(_row(report, Outcome.FAILED, _told(report)), None)
    elif report.passed and _was_broken(report.nodeid, session):
        said = "it is collected again; its cases have rows of their own"
        session.record(_row(report, Outcome.NOT_APPLICABLE, said), None)
    return report


def uncollected(results: Iterable[CaseResult]) -> Iterator[str]:
    """Node ids of what could not be collected."""
    for result in results:
        if result.backend == COLLECTION and result.outcome.is_failure:
            yield result.case_id


def _was_broken(nodeid: str, session: Session) -> bool:
    """Whether the results directory has an error of it, of which nobody has told the end."""
    return nodeid in session.uncollected and session.is_first(f"collected {nodeid}")


def _row(report: pytest.CollectReport, outcome: Outcome, message: str) -> CaseResult:
    return CaseResult(
        case_id=report.nodeid,
        model_type=None,
        model_class=report.nodeid,
        backend=COLLECTION,
        runtime=None,
        variant=_VARIANT,
        generate=False,
        static_cache=False,
        outcome=outcome,
        stage="collect",
        message=message,
    )


def _told(report: pytest.CollectReport) -> str:
    """The error itself, which pytest marks with an E, before all that led to it."""
    text = str(report.longrepr)
    marked = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return readable(f"collection error: {' '.join(marked)}\n{text}")
