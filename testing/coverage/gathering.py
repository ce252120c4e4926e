"""Puts together what is known of each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from testing import auto_classes
from testing.coverage import declared, journal, selection, swept
from testing.coverage.errors import NoTorchError
from testing.coverage.examining import examine_all
from testing.coverage.missing import missing_cause
from testing.coverage.progress import told
from testing.coverage.record import ClassRecord, Coverage
from testing.coverage.skipping import skips_of
from testing.coverage.verdict import Verdict
from testing.parallel import cpus
from testing.registry import Registry
from testing.shards import Shard

__all__ = ["Request", "gather"]


@dataclass(frozen=True)
class Request:
    """What is asked.

    Attributes:
        names: Model types and classes; all where there are none.
        shard: Share of these that is meant; None means all of them.
        tests: Directory of test modules; the project's own by default.
        results: Results directories of sweeps.
        is_static: Whether tiny models are left alone.
        journal: File of verdicts; one for each pair of versions by default.
        workers: How many classes are examined at a time; one a core by default.
    """

    names: tuple[str, ...] = ()
    shard: Shard | None = None
    tests: Path | None = None
    results: tuple[str, ...] = ()
    is_static: bool = False
    journal: Path | None = None
    workers: int | None = None


def gather(request: Request) -> Coverage:
    """All that is asked; the verdicts that the journal lacks are found out.

    Raises:
        RequestError: It cannot be found out.
    """
    names = selection.selected(request.names)
    if request.shard:
        names = tuple(filter(request.shard.holds, names))
    tests = declared.read(request.tests or declared.DEFAULT_TESTS)
    outcomes = swept.outcomes_of(request.results)
    registry = Registry.load()
    key = journal.Key.here()
    verdicts = {} if request.is_static else _verdicts(names, key, request)
    records = tuple(
        ClassRecord(
            model_class=name,
            model_type=(kind := auto_classes.model_type_of(name) or ""),
            area=tests.area_of(kind),
            tests=tests.tests.get(name, ()),
            skips=skips_of(name, registry),
            outcomes=outcomes.get(name, {}),
            verdict=verdicts.get(name),
            known=missing_cause(name, key.versions.get("transformers", "")),
        )
        for name in names
    )
    # What is asked of a few classes is not answered with the mistakes of others.
    return Coverage(key.versions, records, () if request.names else tests.unknown)


def _verdicts(names: tuple[str, ...], key: journal.Key, request: Request) -> Mapping[str, Verdict]:
    """A verdict on each class: those in the journal, and those that it lacks."""
    if "torch" not in key.versions:
        raise NoTorchError
    kept = journal.VerdictJournal(request.journal or journal.default_path(key.versions), key)
    known = kept.read()
    missing = [name for name in names if name not in known]
    workers = request.workers or cpus()
    for verdict in told(examine_all(missing, workers), len(missing)):
        kept.append(verdict)
        known[verdict.model_class] = verdict
    return known
