"""Backends that export with transformers' own exporters, of transformers 5.24 and later.

A backend says which exporter it is and how it wants it configured; what all of them share is here.
"""

from __future__ import annotations

import copy
import importlib.util
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, ClassVar, Final

from packaging.version import Version

from exporters.base import (
    Backend,
    BackendUnavailableError,
    ExportedModel,
    ExportOptions,
    WeightsInlinedError,
)

if TYPE_CHECKING:
    import torch

__all__ = ["HfBackend", "HfModel"]

_INSTALL: Final = "pip install 'export-harness[export]'"
_OLDEST: Final = Version("5.24")
"""First release of transformers whose exporters have the interface that is used here."""


class HfBackend(Backend):
    """A backend over one of transformers' exporters.

    Attributes:
        export_format: transformers' name of the format, such as ``onnx``.
        packages: Modules without which it cannot export and run.
    """

    export_format: ClassVar[str]
    packages: ClassVar[tuple[str, ...]] = ()

    def resolve_runtime(self, requested: str = "auto") -> str | None:
        """The delegate that is asked for, where the format has delegates.

        Raises:
            BackendUnavailableError: A package is missing, or transformers is too old.
        """
        missing = [name for name in self.packages if not importlib.util.find_spec(name)]
        if missing:
            raise BackendUnavailableError(f"{', '.join(missing)} is not installed.", _INSTALL)
        if not _has_exporters():
            raise BackendUnavailableError(
                f"transformers is older than {_OLDEST} and has no exporters.", _INSTALL
            )
        return None if requested == "auto" else requested

    @abstractmethod
    def configured(self, options: ExportOptions) -> Mapping[str, Any]:
        """Fields of the exporter's configuration besides ``dynamic``."""

    def runner_arguments(self) -> Mapping[str, Any]:
        """Arguments of the runner; every backend runs on the CPU."""
        return {}

    def export(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        """Export `model` with transformers' exporter and load the program into its runtime."""
        from transformers.exporters import auto

        exporter = auto.get_exporter_class(self.export_format)()
        config = exporter.config_class(dynamic=options.dynamic, **self.configured(options))
        exported = exporter.export(model, copy.deepcopy(dict(inputs)), config)
        return HfModel(exported.to("cpu", **self.runner_arguments()))


@dataclass
class HfModel(ExportedModel):
    """What one of transformers' exporters has exported.

    Attributes:
        exported: transformers' ``ExportedModel`` of one component, loaded into its runtime.
    """

    exported: Any

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        """Run on keyword inputs; each run gets copies, since programs may write into them."""
        return self.exported(**copy.deepcopy(dict(inputs)))

    def with_weights(self, model: torch.nn.Module) -> ExportedModel:
        """Not possible: the program holds its weights.

        Raises:
            WeightsInlinedError: Always.
        """
        raise WeightsInlinedError(f"a program of {self.exported.export_format} holds its weights")


@cache
def _has_exporters() -> bool:
    try:
        return Version(version("transformers")) >= _OLDEST
    except PackageNotFoundError:
        return False
