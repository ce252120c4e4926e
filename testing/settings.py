"""What a run was asked for, and what the child that runs one case is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from exporters.base import Backend
from testing.cases import ExportCase
from testing.registry.entries import Tolerance

__all__ = ["CaseRequest", "RunSettings", "Terms"]


@dataclass(frozen=True)
class RunSettings:
    """Options of a run, one field per pytest option (see ``testing/plugin/options.py``).

    Attributes:
        backends: Backends to run; empty means all that are installed.
        model_classes: Model classes to run, by name; empty means all.
        neuron_runtime: ``auto``, ``neuronx`` or ``xla``.
        trace_patches: ``on``, ``off`` or comma-separated names.
        lowerings: ``on``, ``off`` or comma-separated names.
        lowering_guard: Whether an op that would kill the process raises instead.
        isolate: ``auto`` (where the backend can crash), ``always`` or ``never``.
        run_skipped: Run what an entry skips and tell ``xfailed`` from ``xpassed``.
        strict_skips: Fail where ``run_skipped`` finds a stale entry.
        slow: Run what is marked slow.
        shard: Share ``I/N`` of the model classes that is run; None runs all.
        durations_from: Results directory by which classes are divided into shards.
        results: Directory of ``results.jsonl``; None keeps no journal.
        resume: Run only what has no result there that still holds.
        case_memory: Bytes that a case in a child may hold; None is no limit.
        crash_retries: How often a case that died is tried again.
    """

    backends: tuple[str, ...] = ()
    model_classes: tuple[str, ...] = ()
    neuron_runtime: str = "auto"
    trace_patches: str = "on"
    lowerings: str = "on"
    lowering_guard: bool = True
    isolate: str = "auto"
    run_skipped: bool = False
    strict_skips: bool = True
    slow: bool = False
    shard: str | None = None
    durations_from: str | None = None
    results: str | None = None
    resume: bool = False
    case_memory: int | None = None
    crash_retries: int = 1

    @property
    def conditions(self) -> dict[str, str]:
        """The options on which the result of a case depends, whatever the case."""
        return {
            "lowering_guard": "on" if self.lowering_guard else "off",
            "slow": str(self.slow),
            "case_memory": str(self.case_memory),
        }

    @property
    def skips_run(self) -> str:
        """How what an entry skips is run: ``off``, ``strict`` or ``lenient``."""
        if not self.run_skipped:
            return "off"
        return "strict" if self.strict_skips else "lenient"

    def runtime_of(self, backend: Backend) -> str | None:
        """The runtime under which the cases of a backend run.

        Raises:
            BackendUnavailableError: Nothing that is installed can serve it.
        """
        return backend.resolve_runtime(self.neuron_runtime if backend.name == "neuron" else "auto")

    def isolates(self, backend: Backend) -> bool:
        """Whether each case of `backend` gets a process of its own."""
        return self.isolate == "always" or (self.isolate == "auto" and backend.can_crash)


@dataclass(frozen=True)
class Terms:
    """What ``skips.py`` says of a case or of one of its components.

    Attributes:
        tolerance: Tolerance of the comparison.
        exactness_reason: Set where an ``.exactness`` entry applies: figures cannot fail it.
        optimizer_off: Why the backend's optimizer is off; None where it is on.
        skip: Scope and reason of the entry by which a component is not run.
    """

    tolerance: Tolerance
    exactness_reason: str | None = None
    optimizer_off: str | None = None
    skip: tuple[str, str] | None = None

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Terms:
        """Read what ``dataclasses.asdict`` made of it, also through JSON."""
        skip = values["skip"]
        tolerance = Tolerance(**values["tolerance"])
        return cls(**{**values, "tolerance": tolerance, "skip": skip and tuple(skip)})


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
        workdir: Directory for what a compiler writes; None has the backend make its own.
        optimizer_off: Why the backend's optimizer is off; None where it is on.
        components: Terms of single components, where they differ from those of the case.
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
    workdir: str | None = None
    optimizer_off: str | None = None
    components: Mapping[str, Terms] = field(default_factory=dict)

    def terms_of(self, component: str | None) -> Terms:
        """The terms of the case, or of one of its components."""
        whole = Terms(self.tolerance, self.exactness_reason, self.optimizer_off)
        return self.components.get(component or "", whole)

    def to_dict(self) -> dict[str, Any]:
        """A form that JSON can carry."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> CaseRequest:
        """The inverse of `to_dict`."""
        settings: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values["settings"].items()
        }
        components = values.get("components", {})
        return cls(
            **{
                **values,
                "case": ExportCase(**values["case"]),
                "tolerance": Tolerance(**values["tolerance"]),
                "settings": RunSettings(**settings),
                "components": {n: Terms.from_dict(t) for n, t in components.items()},
            }
        )
