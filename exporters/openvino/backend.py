"""OpenVINO: converted from an ``ExportedProgram``, run on the CPU in f32."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exporters.base import ExportedModel, ExportOptions
from exporters.hf import VARIANTS, HfBackend

if TYPE_CHECKING:
    import torch

    from exporters.hf.program import HfModel

__all__ = ["OpenVinoBackend"]


class OpenVinoBackend(HfBackend):
    """transformers' OpenVINOExporter, else ``openvino.convert_model``."""

    name = "openvino"
    test_prefix = "openvino"
    export_format = "openvino"
    variants = VARIANTS
    packages = ("torch", "openvino")
    serves_plainly = True
    # Not openvino, nor what imports it: importing it starts a thread, which would not live on in
    # a child.
    preload = ("torch", "transformers", "exporters.dynamo.preloaded")
    distributions = ("torch", "transformers", "openvino")

    def tolerance(self, runtime: str | None) -> float:
        """1e-3."""
        return 1e-3

    def configured(self, options: ExportOptions) -> Mapping[str, Any]:
        """Nothing besides the default, which folds caches into states."""
        return {}

    def configured_for(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> Mapping[str, Any]:
        """Caches as states, but where folding would fix a part of them.

        transformers makes constants of the tensors of a cache that have no batch axis. Those of
        a static cache count its tokens, so that every run would write where the trace did. And
        of all axes of a state only the batch may have another size where the program does not
        write it, as the length of what a decoder reads of its encoder.
        """
        from exporters.openvino.program import counts_tokens, reads_across

        is_fixed = counts_tokens(inputs) or (options.dynamic and reads_across(inputs))
        return {**self.configured(options), "stateful": not is_fixed}

    def runner_arguments(self) -> Mapping[str, Any]:
        """Compiled as `COMPILED` says."""
        from exporters.openvino.outputs import COMPILED

        return {"config": dict(COMPILED)}

    def loaded(self, exported: Any, program: HfModel) -> HfModel:
        """The program, with its states."""
        from exporters.openvino.program import OpenVinoModel

        return OpenVinoModel(program.exported, program.traced)

    def export_plainly(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        """``openvino.convert_model`` of an ``ExportedProgram``."""
        from exporters.plain.openvino import export

        return export(model, inputs, options.dynamic)
