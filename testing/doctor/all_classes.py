"""Examines every class, some at a time; what the journal has is not examined again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from testing import auto_classes
from testing.audit.journal import Key
from testing.coverage.declared import DEFAULT_TESTS
from testing.doctor.examining import DoctorRequest
from testing.doctor.findings import Findings
from testing.doctor.journal import DEFAULT_PATH, FindingsJournal
from testing.parallel import run_all
from testing.shards import Shard

__all__ = ["SweepRequest", "examine_all"]

Examine = Callable[[DoctorRequest], Findings]
_TIME_LIMIT = 300.0


@dataclass(frozen=True)
class SweepRequest:
    """What is asked.

    Attributes:
        backend: Name of the backend.
        shard: Share of the classes that is meant; None means all of them.
        journal: File of findings.
        workers: How many are examined at a time; one a core by default.
        time_limit: Seconds for each examination.
    """

    backend: str
    shard: Shard | None = None
    journal: Path = DEFAULT_PATH
    workers: int | None = None
    time_limit: float = _TIME_LIMIT


def examine_all(request: SweepRequest, examine: Examine) -> tuple[Findings, ...]:
    """The findings on every class that is meant, by name.

    Args:
        request: What is asked.
        examine: Examines one model in children.
    """
    names = [
        name
        for name in sorted(auto_classes.known_classes())
        if request.shard is None or request.shard.holds(name)
    ]
    journal = FindingsJournal(request.journal, Key.here(DEFAULT_TESTS), request.backend)
    known = journal.read()
    missing = [name for name in names if name not in known]
    workers = request.workers or len(os.sched_getaffinity(0))
    run = partial(_findings, examine, request)
    ran = run_all(missing, workers, lambda: nullcontext(run))
    for number, (name, found) in enumerate(ran, start=1):
        journal.append(found)
        known[name] = found
        _progress(number, len(missing), name)
    return tuple(known[name] for name in names)


def _findings(examine: Examine, request: SweepRequest, name: str) -> Findings:
    found = examine(DoctorRequest(name, request.backend, time_limit=request.time_limit))
    kind = auto_classes.model_type_of(name)
    return replace(found, model=name, model_type=kind or found.model_type)


def _progress(number: int, total: int, name: str) -> None:
    sys.stderr.write(f"[{number}/{total}] {name}\n")
    sys.stderr.flush()
