"""What one or more results directories hold together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from testing import journal
from testing.faults import readable
from testing.journal import JournalContents
from testing.reports.case import CaseKey, ReportedCase, cases_of
from testing.reports.cause import cause_of
from testing.reports.names import names_of
from testing.reports.wording import headline

__all__ = ["Conflict", "NoResultsError", "Sweep"]


class NoResultsError(Exception):
    """A directory is not there, cannot be read, or none of them holds a result."""


@dataclass(frozen=True)
class Conflict:
    """A case that ended differently in two directories.

    Attributes:
        kept: What the report shows.
        told: Each directory with what it has, in the order in which they were written.
    """

    kept: ReportedCase
    told: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Sweep:
    """The cases of some directories.

    Attributes:
        directories: Where they were read from, as they were named.
        cases: By key, in the order of model type, class and column.
        names: What each case id is called.
        conflicts: Cases that several directories have, and differently.
        damaged: Lines that hold no result, each with the directory.
        empty: Directories that hold no result.
        written: When the last result was written, in seconds since the epoch.
    """

    directories: tuple[str, ...]
    cases: Mapping[CaseKey, ReportedCase]
    names: Mapping[str, str]
    conflicts: tuple[Conflict, ...] = ()
    damaged: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    written: float = 0.0

    @classmethod
    def load(cls, directories: Sequence[str | Path]) -> Sweep:
        """Read and merge; of a case in several directories, what was written last counts.

        Raises:
            NoResultsError: One is not there or cannot be read, or all of them are empty.
        """
        found = [(str(directory), _scan(directory)) for directory in directories]
        # Shards whose files were written at one time keep the order of the command line.
        found.sort(key=lambda item: item[1].written)
        parts = [(name, cases_of(c.results, c.attempts)) for name, c in found]
        cases = {key: case for _, part in parts for key, case in part.items()}
        damaged = tuple(f"{name}/{line}" for name, c in found for line in c.damaged)
        if not cases:
            raise NoResultsError(_nothing([str(d) for d in directories], damaged))
        names = _names(cases.values())
        return cls(
            directories=tuple(map(str, directories)),
            cases=dict(sorted(cases.items(), key=lambda item: _order(item[1], names))),
            names=names,
            conflicts=tuple(_conflicts(parts, cases)),
            damaged=damaged,
            empty=tuple(name for name, contents in found if not contents.results),
            written=max(contents.written for _, contents in found),
        )

    @property
    def versions(self) -> Mapping[str, str]:
        """Of each package the version, or all of them where results differ in it."""
        found: dict[str, dict[str, None]] = {}
        for case in self.cases.values():
            for package, version in case.result.versions.items():
                found.setdefault(readable(package), {})[readable(str(version))] = None
        return {package: " and ".join(sorted(seen)) for package, seen in found.items()}

    def name_of(self, case: ReportedCase) -> str:
        """What a case is called, on one line."""
        name = self.names.get(case.result.case_id, case.result.model_class)
        return " ".join(readable(name, 200).split())

    def title_of(self, case: ReportedCase) -> str:
        """Name and column, ``BertModel [neuron/xla static]``."""
        return f"{self.name_of(case)} [{case.column}]"


def _scan(directory: str | Path) -> JournalContents:
    try:
        return journal.scan(directory)
    except OSError as error:
        raise NoResultsError(f"{error}: name the directory of --results") from error


def _nothing(directories: Sequence[str], damaged: Sequence[str]) -> str:
    told = f"no results in {', '.join(directories)}: name directories that --results has filled"
    return f"{told} (lines that hold no result: {len(damaged)})" if damaged else told


def _names(cases: Iterable[ReportedCase]) -> Mapping[str, str]:
    return names_of(case.result for case in cases)


def _order(case: ReportedCase, names: Mapping[str, str]) -> tuple[str, str, str, str]:
    result = case.result
    return result.model_type or "", names[result.case_id], case.column, result.case_id


def _conflicts(
    parts: Sequence[tuple[str, Mapping[CaseKey, ReportedCase]]],
    cases: Mapping[CaseKey, ReportedCase],
) -> Iterator[Conflict]:
    """Cases with more than one cause; one that is the same in two directories is no conflict."""
    for key, kept in cases.items():
        held = [(name, part[key].result) for name, part in parts if key in part]
        if len({cause_of(result) for _, result in held}) > 1:
            yield Conflict(kept, tuple((name, headline(result)) for name, result in held))
