"""What is known of each class, and the totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from testing.coverage.declared import UnknownName
from testing.coverage.skipping import AppliedSkip
from testing.coverage.verdict import Kind, Verdict
from testing.results import Outcome

__all__ = ["ClassRecord", "Coverage", "Totals", "totals_of"]

_ELSEWHERE: Final = (Kind.NEEDS_PACKAGE, Kind.IMPOSSIBLE)


@dataclass(frozen=True)
class ClassRecord:
    """One model class.

    Attributes:
        model_class: Its name.
        model_type: The model type that it belongs to.
        area: The area of that type.
        tests: The test classes that export it, ``file::class``.
        skips: The entries of ``skips.py`` that apply.
        outcomes: Of the sweep, by column.
        verdict: Of its tiny model; None where that was not examined.
        known: Why it has none yet, where that is declared.
    """

    model_class: str
    model_type: str
    area: str
    tests: tuple[str, ...] = ()
    skips: tuple[AppliedSkip, ...] = ()
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    verdict: Verdict | None = None
    known: str | None = None

    @property
    def is_finding(self) -> bool:
        """Whether somebody has to do something about it."""
        if not self.tests or self.is_stale:
            return True
        return self.verdict is not None and self.verdict.kind.is_finding and not self.known

    @property
    def is_stale(self) -> bool:
        """Whether it is declared to have no tiny model and has one."""
        works = self.verdict is not None and self.verdict.kind in (Kind.COVERED, Kind.TAMED)
        return bool(self.known) and works

    def measured(self, name: str) -> Any:
        """A figure of its examination; None where there is none."""
        return ((self.verdict and self.verdict.examination) or {}).get(name)

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it."""
        row = {k: v for k, v in asdict(self).items() if k != "verdict"}
        if self.verdict is None:
            return row
        return {
            **row,
            "kind": self.verdict.kind,
            "message": self.verdict.message,
            "tiny_model_builds": self.verdict.builds,
            "eager_runs": self.verdict.runs,
            "every_input_matters": not self.measured("idle") if self.verdict.runs else None,
            "examination": self.verdict.examination,
        }


@dataclass(frozen=True)
class Totals:
    """Numbers over some classes.

    Attributes:
        classes: How many there are.
        tested: How many a test class exports.
        kinds: How many there are of each kind.
        leaves: Floating output leaves of all.
        constant: Those that are near-constant, which prove nothing.
        large: Classes beyond the limits of a tiny model.
        tamed: Classes whose forward is not that of transformers' defaults.
    """

    classes: int
    tested: int
    kinds: Mapping[Kind, int]
    leaves: int
    constant: int
    large: int
    tamed: int

    @property
    def reachable(self) -> int:
        """The classes that a model can be made of here."""
        return self.classes - sum(self.kinds.get(kind, 0) for kind in _ELSEWHERE)

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it."""
        return {**asdict(self), "reachable": self.reachable}


@dataclass(frozen=True)
class Coverage:
    """All that is known.

    Attributes:
        versions: Of what is installed.
        records: The classes, by name.
        unknown: Names in tests that no supported transformers has.
    """

    versions: Mapping[str, str]
    records: tuple[ClassRecord, ...]
    unknown: tuple[UnknownName, ...] = ()

    @property
    def is_examined(self) -> bool:
        """Whether tiny models were examined."""
        return any(record.verdict for record in self.records)

    @property
    def has_findings(self) -> bool:
        """Whether somebody has to do something."""
        return bool(self.unknown) or any(record.is_finding for record in self.records)

    @property
    def without_test(self) -> tuple[ClassRecord, ...]:
        """Classes that no test class exports."""
        return tuple(record for record in self.records if not record.tests)

    @property
    def stale(self) -> tuple[ClassRecord, ...]:
        """Classes that are declared to have no tiny model and have one."""
        return tuple(record for record in self.records if record.is_stale)

    def of_kind(self, kind: Kind) -> tuple[ClassRecord, ...]:
        """The classes of one kind."""
        return tuple(r for r in self.records if r.verdict is not None and r.verdict.kind is kind)

    def by_area(self) -> Mapping[str, tuple[ClassRecord, ...]]:
        """The classes of each area, in the order of the areas' names."""
        areas = sorted({record.area for record in self.records})
        return {area: tuple(r for r in self.records if r.area == area) for area in areas}

    def by_column(self) -> Mapping[str, Counter[Outcome]]:
        """How often each outcome occurs in each column of the sweep."""
        counted: dict[str, Counter[Outcome]] = {}
        for record in self.records:
            for column, outcome in record.outcomes.items():
                counted.setdefault(column, Counter())[outcome] += 1
        return dict(sorted(counted.items()))

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it."""
        areas = {area: totals_of(records).to_dict() for area, records in self.by_area().items()}
        return {
            "versions": dict(self.versions),
            "examined": self.is_examined,
            "totals": totals_of(self.records).to_dict(),
            "areas": areas,
            "exports": {column: dict(found) for column, found in self.by_column().items()},
            "without_test": [record.model_class for record in self.without_test],
            "unknown_names": [asdict(name) for name in self.unknown],
            "classes": [record.to_dict() for record in self.records],
        }


def totals_of(records: Iterable[ClassRecord]) -> Totals:
    """The numbers over some classes."""
    found: Sequence[ClassRecord] = tuple(records)
    return Totals(
        classes=len(found),
        tested=sum(bool(record.tests) for record in found),
        kinds=dict(Counter(record.verdict.kind for record in found if record.verdict)),
        leaves=sum(record.measured("leaves") or 0 for record in found),
        constant=sum(len(record.measured("constant") or ()) for record in found),
        large=sum(bool(record.measured("large")) for record in found),
        tamed=sum(bool(record.measured("exceptions")) for record in found),
    )
