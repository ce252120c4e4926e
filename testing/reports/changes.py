"""What changed between two sweeps, and which of it is a regression."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from testing.reports.case import ReportedCase
from testing.reports.cause import cause_of
from testing.reports.sweep import Sweep
from testing.reports.wording import headline, skip_text
from testing.results import COLLECTION, LeafMetrics, Outcome

__all__ = ["REGRESSIONS", "Change", "Comparison", "Kind", "Limits"]


class Kind(str, Enum):
    """In what a case changed, what asks for somebody first."""

    NEWLY_FAILING = "newly failing"
    VANISHED = "vanished"
    NO_LONGER_RUN = "no longer run"
    OTHER_CAUSE = "still failing, with another cause"
    WORSE = "numerically worse"
    SLOWER = "slower"
    NEWLY_SKIPPED = "newly skipped by an entry"
    NEWLY_PASSING = "newly passing"
    NEW = "new"


REGRESSIONS: Final = frozenset({Kind.NEWLY_FAILING, Kind.VANISHED, Kind.NO_LONGER_RUN})
"""What is one unless more is asked for. A case that neither passes nor fails any more, without an
entry of skips.py, has been lost as much as one that vanished."""

_ROUGHLY_EAGER: Final = (Outcome.PASSED, Outcome.EXPORTED)


@dataclass(frozen=True)
class Limits:
    """From where on a figure counts as changed.

    Attributes:
        slower: Factor of the seconds of a case.
        slower_floor: Seconds that it must take longer as well.
        worse: Factor of the largest difference of a leaf.
        worse_floor: Differences below are taken for this one.
    """

    slower: float = 2.0
    slower_floor: float = 5.0
    worse: float = 10.0
    worse_floor: float = 1e-6


@dataclass(frozen=True)
class Change:
    """One change of one case.

    Attributes:
        kind: In what it changed.
        case: As it is now; as it was where it is no more.
        said: From what to what.
    """

    kind: Kind
    case: ReportedCase
    said: str


@dataclass(frozen=True)
class Comparison:
    """A sweep held against an earlier one.

    Attributes:
        before: The earlier one.
        changes: Every change, in the order of kinds and then of cases.
        versions: Packages that differ, each with from what to what.
        regressions: The kinds that count as one.
    """

    before: Sweep
    changes: tuple[Change, ...]
    versions: Mapping[str, str]
    regressions: frozenset[Kind] = REGRESSIONS

    @classmethod
    def of(
        cls,
        now: Sweep,
        before: Sweep,
        limits: Limits | None = None,
        regressions: frozenset[Kind] = REGRESSIONS,
    ) -> Comparison:
        """Hold `now` against `before`."""
        changes = list(_changes(now, before, limits or Limits()))
        kinds = list(Kind)
        changes.sort(key=lambda change: kinds.index(change.kind))
        return cls(before, tuple(changes), _version_changes(now, before), regressions)

    def of_kind(self, kind: Kind) -> Sequence[Change]:
        """The changes of one kind."""
        return [change for change in self.changes if change.kind is kind]

    @property
    def has_regressions(self) -> bool:
        """Whether something is worse than it was."""
        return any(change.kind in self.regressions for change in self.changes)


def _version_changes(now: Sweep, before: Sweep) -> dict[str, str]:
    ours, theirs = now.versions, before.versions
    return {
        package: f"{theirs.get(package, 'none')} → {ours.get(package, 'none')}"
        for package in [*ours, *(package for package in theirs if package not in ours)]
        if ours.get(package) != theirs.get(package)
    }


def _changes(now: Sweep, before: Sweep, limits: Limits) -> Iterator[Change]:
    for key, case in now.cases.items():
        old = before.cases.get(key)
        if old is None:
            yield _appeared(case)
        else:
            yield from _change_of(old, case, limits)
    for key, old in before.cases.items():
        if key not in now.cases:
            yield from _vanished(old)


def _appeared(case: ReportedCase) -> Change:
    is_broken = case.fails and _is_of_collection(case)
    return Change(Kind.NEWLY_FAILING if is_broken else Kind.NEW, case, _ended(case))


def _vanished(old: ReportedCase) -> Iterator[Change]:
    if not _is_of_collection(old):
        yield Change(Kind.VANISHED, old, f"was {_ended(old)}")
    elif old.fails:
        yield Change(Kind.NEWLY_PASSING, old, f"collected — was {_ended(old)}")


def _is_of_collection(case: ReportedCase) -> bool:
    """Whether it is no case but a module, which has a row only where it cannot be collected."""
    return case.result.backend == COLLECTION


def _change_of(old: ReportedCase, case: ReportedCase, limits: Limits) -> Iterator[Change]:
    kind = _kind_of(old, case)
    if kind:
        yield Change(kind, case, f"{_ended(case)} — was {_ended(old)}")
    elif case.result.outcome in _ROUGHLY_EAGER:
        for name, said in _figures(old, case, limits):
            yield Change(name, case, said)


def _ended(case: ReportedCase) -> str:
    """How a case ended; of one that passes, the notes are left out."""
    result = case.result
    if result.outcome is Outcome.SKIPPED:
        return f"skipped · {skip_text(result)}"
    return result.outcome.value if case.passed else headline(result)


def _kind_of(old: ReportedCase, case: ReportedCase) -> Kind | None:
    """How the outcome changed; None where it did not."""
    if case.fails:
        return _kind_of_failure(old, case)
    if case.passed:
        return None if old.passed else Kind.NEWLY_PASSING
    if not (old.passed or old.fails):
        return None
    return Kind.NEWLY_SKIPPED if case.result.scope else Kind.NO_LONGER_RUN


def _kind_of_failure(old: ReportedCase, case: ReportedCase) -> Kind | None:
    if not old.fails:
        return Kind.NEWLY_FAILING
    is_same = cause_of(old.result) == cause_of(case.result)
    return None if is_same else Kind.OTHER_CAUSE


def _figures(old: ReportedCase, case: ReportedCase, limits: Limits) -> Iterator[tuple[Kind, str]]:
    yield from _slower(old, case, limits)
    yield from _worse(old, case, limits)


def _slower(old: ReportedCase, case: ReportedCase, limits: Limits) -> Iterator[tuple[Kind, str]]:
    now, then = case.seconds, old.seconds
    if now > limits.slower * then and now - then > limits.slower_floor:
        by = f" ({now / then:.1f} times)" if then else ""
        yield Kind.SLOWER, f"{then:.1f} s → {now:.1f} s{by}"


def _worse(old: ReportedCase, case: ReportedCase, limits: Limits) -> Iterator[tuple[Kind, str]]:
    """The leaf that got worse by the largest factor."""
    then = old.result.metrics
    factors = {
        leaf: _factor(then[leaf], metrics, limits.worse_floor)
        for leaf, metrics in case.result.metrics.items()
        if leaf in then
    }
    leaf = max(factors, key=lambda name: factors[name], default="")
    if factors and factors[leaf] > limits.worse:
        now = case.result.metrics[leaf].max_abs
        yield Kind.WORSE, f"`{leaf}`: max abs {then[leaf].max_abs:.3g} → {now:.3g}"


def _factor(old: LeafMetrics, new: LeafMetrics, floor: float) -> float:
    """By how much a leaf is further off; infinite where it was a number and is none any more."""
    if not math.isfinite(new.max_abs):
        return math.inf if math.isfinite(old.max_abs) else 0.0
    return new.max_abs / max(old.max_abs, floor) if math.isfinite(old.max_abs) else 0.0
