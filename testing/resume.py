"""Which cases of a run that was cut off have a result that still holds."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from exporters import get_backend
from exporters.base import (
    Backend,
    BackendIncompatibleError,
    BackendUnavailableError,
    Selection,
)
from testing import journal
from testing.cases import ExportCase
from testing.registry import Entry, Registry
from testing.results import CaseResult
from testing.settings import RunSettings
from testing.terms import component_terms
from testing.versions import versions_of

__all__ = ["Basis", "Finished"]

_FILE: Final = "finished.json"


@dataclass(frozen=True)
class Basis:
    """What a result rests on besides its case: under another basis the case is run again.

    Attributes:
        runtime: Runtime or delegate, resolved; None where none can be had.
        versions: Of Python and of what the backend depends on.
        conditions: Options that change how a case is exported or judged, and what ``skips.py``
            has for it.
    """

    runtime: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, case: ExportCase, settings: RunSettings, registry: Registry) -> Basis:
        """What a case would be decided on now."""
        backend = get_backend(case.backend)
        case = _resolved(case, backend, settings)
        return cls(
            case.runtime or case.delegate,
            versions_of(backend.distributions),
            _conditions(case, backend, settings, registry),
        )

    @property
    def digest(self) -> str:
        """Equal for two that are."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class Finished:
    """The cases that had a result when a run began.

    The journal grows while workers collect, and a worker that takes a dead one's place collects
    late, yet all have to collect alike. So the controller writes once what it found.
    """

    def __init__(self, digests: Mapping[str, str]) -> None:
        """Take the digest of the basis of each case's latest result, by case id."""
        self._digests = digests

    @classmethod
    def of(cls, directory: str | Path) -> Finished:
        """Those of a results directory; only the row of the whole case counts.

        One that was to be tried again and has no later row is not finished.
        """
        latest = journal.read(directory)
        rows = [row for row in latest if row.component is None and not row.retried]
        return cls({row.case_id: _basis_of(row).digest for row in rows})

    @classmethod
    def read(cls, shared: Path) -> Finished:
        """What the controller wrote into the directory that its workers share."""
        return cls(json.loads((shared / _FILE).read_text(encoding="ascii")))

    def write(self, shared: Path) -> None:
        """Leave it for the workers."""
        (shared / _FILE).write_text(json.dumps(self._digests), encoding="ascii")

    def holds(self, case_id: str, basis: Basis) -> bool:
        """Whether the latest result of a case rests on that basis."""
        return self._digests.get(case_id) == basis.digest


def _basis_of(row: CaseResult) -> Basis:
    return Basis(row.runtime, row.versions, row.conditions)


def _resolved(case: ExportCase, backend: Backend, settings: RunSettings) -> ExportCase:
    try:
        return dataclasses.replace(case, runtime=settings.runtime_of(backend))
    except (BackendUnavailableError, BackendIncompatibleError):
        return case


def _conditions(
    case: ExportCase, backend: Backend, settings: RunSettings, registry: Registry
) -> dict[str, str]:
    default = backend.tolerance(case.runtime or case.delegate)
    tolerance = registry.tolerance_for(case, default)
    entry = registry.skip_for(case)
    return {
        **settings.conditions,
        "trace_patches": _chosen(settings.trace_patches, backend.patch_names()),
        "lowerings": _chosen(settings.lowerings, backend.lowering_names()),
        "skip": _told(entry),
        # Without an entry it is all the same whether what is skipped is run.
        "run_skipped": settings.skips_run if entry else "",
        "exactness": _told(registry.exactness_for(case)),
        "tolerance": f"{tolerance.atol:g} {tolerance.rtol:g} {tolerance.mismatch:g}",
        **_further(case, settings, registry),
    }


def _further(case: ExportCase, settings: RunSettings, registry: Registry) -> dict[str, str]:
    """What few cases have; the others rest on what they rested on before."""
    optimizer = registry.optimizer_off_for(case)
    components = component_terms(registry, case, settings.run_skipped)
    told = {name: dataclasses.asdict(terms) for name, terms in components.items()}
    return {
        **({"optimizer": _told(optimizer)} if optimizer else {}),
        **({"components": json.dumps(told, sort_keys=True)} if told else {}),
    }


def _chosen(given: str, names: Sequence[str]) -> str:
    """An option with a mark of what it chooses: `on` is more once there is one more."""
    selection = Selection.parse(given)
    chosen = ",".join(sorted(name for name in names if name in selection))
    return f"{given} ({zlib.crc32(chosen.encode()):08x})"


def _told(entry: Entry | None) -> str:
    return f"{entry.scope}: {entry.reason}" if entry else ""
