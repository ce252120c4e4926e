"""ExecuTorch: lowered to a delegate, run in its runtime."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from exporters.base import BackendUnavailableError, ExportOptions, Variant
from exporters.hf import INSTALL, VARIANTS, HfBackend

if TYPE_CHECKING:
    import torch

    from exporters.hf.program import HfModel

__all__ = ["ExecutorchBackend"]

_REGISTERED_AS: Final = {"xnnpack": "XnnpackBackend", "mlx": "MLXBackend"}
_INSTALL: Final = {
    "xnnpack": INSTALL,
    "mlx": f"{INSTALL}, on macOS with Apple silicon",
}


class ExecutorchBackend(HfBackend):
    """transformers' ExecutorchExporter, with the bounds of `bounds` on its dynamic axes."""

    name = "executorch"
    test_prefix = "executorch"
    export_format = "executorch"
    variants = tuple(
        dataclasses.replace(variant, delegate=delegate)
        for delegate in _REGISTERED_AS
        for variant in VARIANTS
    )
    packages = ("torch", "executorch")
    preload = ("torch", "transformers", "exporters.executorch.preloaded")
    distributions = ("torch", "transformers", "executorch", "torchao")

    def tolerance(self, runtime: str | None) -> float:
        """1e-3."""
        return 1e-3

    def require_delegate(self, delegate: str | None) -> None:
        """Refuse a delegate whose runtime the installed ExecuTorch was built without."""
        if delegate and not _is_built_in(_REGISTERED_AS[delegate]):
            raise BackendUnavailableError(
                f"The installed executorch has no runtime of {delegate}.", _INSTALL[delegate]
            )

    def not_applicable(self, variant: Variant) -> str | None:
        """Nothing is said of mlx with a static cache."""
        if variant.delegate == "mlx" and variant.static_cache:
            return "ExecuTorch's mlx delegate takes no StaticCache"
        return None

    def load(self, exported: Any) -> None:
        """Not yet: each run loads the program for itself, after its inputs are bound."""

    def loaded(self, exported: Any, program: HfModel) -> HfModel:
        """The program with its slots."""
        from exporters.executorch.program import ExecutorchModel

        return ExecutorchModel(program.exported, program.traced)

    def configured(self, options: ExportOptions) -> Mapping[str, Any]:
        """The delegate."""
        return {"backend": options.runtime or "xnnpack"}

    def configured_for(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> Mapping[str, Any]:
        """Bounds of dynamic axes."""
        fields = self.configured(options)
        if not options.dynamic:
            return fields
        from exporters.executorch.bounds import bounded_shapes

        return {**fields, "dynamic_shapes": bounded_shapes(model, inputs)}


@cache
def _is_built_in(registered_as: str) -> bool:
    """Whether the runtime's library names a delegate; to ask it would import torch."""
    package = importlib.util.find_spec("executorch")
    places = list(package.submodule_search_locations or ()) if package else []
    libraries = (
        library
        for place in places
        for library in Path(place).glob("extension/pybindings/_portable_lib.*")
    )
    return any(registered_as.encode() in library.read_bytes() for library in libraries)
