"""What a run was asked for, and what the child that runs one case is told."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from exporters.base import Backend
from testing.cases import ExportCase
from testing.registry.entries import Tolerance

__all__ = ["CaseRequest", "RunSettings"]


@dataclass(frozen=True)
class RunSettings:
    """Options of a run, one field per pytest option (see ``testing/plugin.py``).

    Attributes:
        backends: Backends to run; empty means all that are installed.
        neuron_runtime: ``auto``, ``neuronx`` or ``xla``.
        trace_patches: ``on``, ``off`` or comma-separated names.
        lowerings: ``on``, ``off`` or comma-separated names.
        lowering_guard: Whether an op that would kill the process raises instead.
        isolate: ``auto`` (where the backend can crash), ``always`` or ``never``.
        run_skipped: Run what an entry skips and tell ``xfailed`` from ``xpassed``.
        strict_skips: Fail where ``run_skipped`` finds a stale entry.
        slow: Run what is marked slow.
        shard: Share ``I/N`` of the model classes that is run; None runs all.
        results: Directory of ``results.jsonl``; None keeps no journal.
    """

    backends: tuple[str, ...] = ()
    neuron_runtime: str = "auto"
    trace_patches: str = "on"
    lowerings: str = "on"
    lowering_guard: bool = True
    isolate: str = "auto"
    run_skipped: bool = False
    strict_skips: bool = True
    slow: bool = False
    shard: str | None = None
    results: str | None = None

    def isolates(self, backend: Backend) -> bool:
        """Whether each case of `backend` gets a process of its own."""
        return self.isolate == "always" or (self.isolate == "auto" and backend.can_crash)


@dataclass(frozen=True)
class CaseRequest:
    """Everything that the pipeline needs for one case; it crosses to the child as JSON.

    Attributes:
        case: The case, its runtime resolved.
        case_id: pytest's node id, or another unique name.
        module: Name of the module that holds the test class.
        path: File of that module.
        test_class: Qualified name of the test class in it.
        test_method: Name of the test method, which unittest's constructor takes.
        tolerance: Tolerance of the comparison.
        exactness_reason: Set where an ``.exactness`` entry applies: figures cannot fail the case.
        settings: The run's options.
        timeout: Seconds that the whole case may take.
        guard: Whether the lowering guard is on in this attempt.
        seed: Seed of the model's weights and of its inputs.
    """

    case: ExportCase
    case_id: str
    module: str
    path: str
    test_class: str
    test_method: str
    tolerance: Tolerance
    settings: RunSettings
    exactness_reason: str | None = None
    timeout: float = 1000.0
    guard: bool = True
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """A form that JSON can carry."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> CaseRequest:
        """The inverse of `to_dict`."""
        settings = dict(values["settings"], backends=tuple(values["settings"]["backends"]))
        return cls(
            **{
                **values,
                "case": ExportCase(**values["case"]),
                "tolerance": Tolerance(**values["tolerance"]),
                "settings": RunSettings(**settings),
            }
        )
