"""How an audit runs cases."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from testing.settings import RunSettings
from testing.timeouts import DEFAULT_TIMEOUT

__all__ = ["AuditSettings"]


@dataclass(frozen=True)
class AuditSettings:
    """Options of an audit.

    Attributes:
        repeat: How often each case runs, each time under another seed.
        time_limit: Seconds that a case may take.
        neuron_runtime: ``auto``, ``neuronx`` or ``xla``.
        trace_patches: ``on``, ``off`` or comma-separated names.
        lowerings: ``on``, ``off`` or comma-separated names.
        lowering_guard: Whether an op that would kill the process raises instead.
    """

    repeat: int = 3
    time_limit: float = DEFAULT_TIMEOUT
    neuron_runtime: str = "auto"
    trace_patches: str = "on"
    lowerings: str = "on"
    lowering_guard: bool = True

    @property
    def run(self) -> RunSettings:
        """As the cases are told; whatever the backend, each has a process of its own."""
        return RunSettings(
            neuron_runtime=self.neuron_runtime,
            trace_patches=self.trace_patches,
            lowerings=self.lowerings,
            lowering_guard=self.lowering_guard,
            isolate="always",
            run_skipped=True,
            slow=True,
        )

    def runtime_of(self, backend: str) -> str:
        """What to ask a backend for."""
        return self.neuron_runtime if backend == "neuron" else "auto"

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it."""
        return dataclasses.asdict(self)
