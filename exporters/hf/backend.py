"""Backends that export with transformers' own exporters, or plainly where those do not exist.

A backend says which exporter it is, how it wants it configured, and how a program is loaded. What
all of them share is here, and so is the one place that decides which path serves.
"""

from __future__ import annotations

import importlib.util
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, Final

from packaging.version import Version

from exporters.base import (
    Backend,
    BackendUnavailableError,
    ExportedModel,
    ExportOptions,
    Variant,
)
from exporters.distributions import version_of

if TYPE_CHECKING:
    import torch

    from exporters.hf.program import HfModel

__all__ = ["INSTALL", "VARIANTS", "HfBackend", "has_exporters"]

INSTALL: Final = (
    "make install ENV=export, or pip install 'export-harness[export]' in an environment of its own"
)
VARIANTS: Final = (
    Variant(dynamic=False),
    Variant(dynamic=True),
    *(
        Variant(dynamic=dynamic, generate=True, static_cache=static_cache)
        for dynamic in (False, True)
        for static_cache in (False, True)
    ),
)
"""Forward passes, and the steps of generation over a growing and over a static cache."""
_NEEDED: Final = {"transformers": "5.24", "torch": "2.11"}
"""First releases that have transformers' exporters as they are used here, and on which they run.

``DynamoExporter.min_versions`` asks for that torch.
"""


def has_exporters() -> bool:
    """Whether transformers' exporters can be used here, found without importing anything."""
    return not _too_old()


def _too_old() -> list[str]:
    found = {name: version_of(name) or "0" for name in _NEEDED}
    return [
        f"{name} {found[name]}, which is older than {oldest}"
        for name, oldest in _NEEDED.items()
        if Version(Version(found[name]).base_version) < Version(oldest)
    ]


class HfBackend(Backend):
    """A backend over one of transformers' exporters.

    Cases run in children of their own: torch.export and the converters behind it patch classes,
    keep caches and leave tensors without data on modules, and tracing may never end. What one
    case leaves behind, and how long it takes, must not concern the next.

    Attributes:
        export_format: transformers' name of the format, such as ``onnx``.
        packages: Modules without which it cannot export and run.
        serves_plainly: Whether forward passes are exported without transformers' exporters
            where there are none.
    """

    export_format: ClassVar[str]
    packages: ClassVar[tuple[str, ...]] = ("torch",)
    serves_plainly: ClassVar[bool] = False
    can_crash = True
    decomposes = True

    def resolve_runtime(self, requested: str = "auto") -> str | None:
        """The delegate that is asked for, where the format has delegates.

        Raises:
            BackendUnavailableError: A package is missing, or transformers or torch is too old.
        """
        missing = [name for name in self.packages if not importlib.util.find_spec(name)]
        if missing:
            raise BackendUnavailableError(f"{', '.join(missing)} is not installed.", INSTALL)
        if not self.serves_plainly:
            self.require_exporters()
        return None if requested == "auto" else requested

    def require_generation(self) -> None:
        """Refuse generation where transformers has no exporters: its caches need theirs."""
        self.require_exporters()

    def require_exporters(self) -> None:
        """Refuse what only transformers' own exporters can do.

        Raises:
            BackendUnavailableError: transformers has none, or they do not run on this torch.
        """
        if too_old := _too_old():
            told = "; ".join(too_old)
            raise BackendUnavailableError(
                f"transformers' exporters need more than {told}.", INSTALL
            )

    @contextmanager
    def caches_as_traced(self) -> Iterator[None]:
        """Layers that slide keep their whole past."""
        from exporters.hf.sliding_caches import growing

        with growing() if has_exporters() else nullcontext():
            yield

    @abstractmethod
    def configured(self, options: ExportOptions) -> Mapping[str, Any]:
        """Fields of the exporter's configuration besides ``dynamic``."""

    def configured_for(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> Mapping[str, Any]:
        """Fields of the configuration, where they depend on the model or its prepared inputs."""
        return self.configured(options)

    def runner_arguments(self) -> Mapping[str, Any]:
        """Arguments of the runner; every backend runs on the CPU."""
        return {}

    def export(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        """Export `model` and load the program into its runtime.

        Raises:
            BackendUnavailableError: Only transformers' exporters could do it, and there are none.
            BackendIncompatibleError: transformers' exporters are not as they are expected to be.
        """
        with _left_as_it_was(model):
            if has_exporters():
                return self._export_with_transformers(model, inputs, options)
            return self.export_plainly(model, inputs, options)

    def export_plainly(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        """Export one forward pass with torch's own exporter and nothing of transformers'."""
        self.require_exporters()
        raise NotImplementedError(f"{self.name} has no path besides transformers' exporters")

    def load(self, exported: Any) -> None:
        """Have transformers' runner load the program into its runtime."""
        exported.to("cpu", **self.runner_arguments())

    def loaded(self, exported: Any, program: HfModel) -> HfModel:
        """The program in its runtime.

        Args:
            exported: transformers' ``ExportedModel`` of one component.
            program: The same, as it runs with transformers' own runner.
        """
        return program

    def _export_with_transformers(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        from exporters.hf.inputs import HfInputs
        from exporters.hf.program import HfModel
        from exporters.hf.sliding_caches import NOTE, slides
        from exporters.hf.toolkit import exporter_of

        traced = HfInputs(model, inputs)
        exporter = exporter_of(self.export_format)
        fields = self.configured_for(model, traced.prepared, options)
        exported = exporter.export(model, traced.for_trace(), options.dynamic, fields)
        self.load(exported)
        program = self.loaded(exported, HfModel(exported, traced))
        program.notes += (NOTE,) if slides(model) else ()
        return program


@contextmanager
def _left_as_it_was(model: torch.nn.Module) -> Iterator[None]:
    """Undo what the toolkits leave on a model: patched forwards, set-aside weights, fake tensors.

    They restore most of it themselves, but not all, and not wherever they raise.
    """
    from exporters.snapshot import ModuleSnapshot

    snapshot = ModuleSnapshot(model)
    try:
        yield
    finally:
        snapshot.restore()
