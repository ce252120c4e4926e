"""A worker of xdist that died: the case that it ran has a result all the same."""

from __future__ import annotations

import pytest

from testing import journal
from testing.reports.wording import rerun_command
from testing.results import CaseResult, Outcome
from testing.session import SESSION, Session
from testing.status import Status, statuses

__all__: list[str] = []


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, report: pytest.TestReport) -> None:
    """Record the case that a worker took with it, unless it was recorded before."""
    node = report.node
    session: Session = node.config.stash[SESSION]
    status = _status_of(node.gateway.id, session)
    if status.case is None or status.case_id != crashitem or _is_recorded(crashitem, session):
        return
    message = (
        f"the worker {node.gateway.id} itself died in stage {status.stage!r} of this case, and "
        "another took its place: what kills a worker is outside the case's own process"
    )
    died = CaseResult.of(
        status.case, crashitem, Outcome.CRASHED, stage=status.stage, message=message
    )
    session.record(died, status.case)
    rerun = rerun_command(crashitem, session.settings)
    report.longrepr = f"{report.longrepr}\n{message}\nrun it alone: {rerun}"


def _status_of(worker: str, session: Session) -> Status:
    return statuses(session.shared).get(worker, Status()) if session.shared else Status()


def _is_recorded(case_id: str, session: Session) -> bool:
    """Whether the worker had appended the result before it died; the controller runs no case."""
    rows = journal.scan(session.settings.results or "").attempts
    tries = [row for row in rows if row.case_id == case_id]
    known = session.attempts[case_id]
    # A try that was to be followed by another is none that stands, and still is counted.
    session.attempts[case_id] = max([known, *(row.attempt for row in tries)])
    return any(row.attempt > known and not row.retried for row in tries)
