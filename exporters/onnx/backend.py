"""ONNX: checked with ``onnx.checker``, run in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exporters.base import ExportedModel, ExportOptions
from exporters.hf import VARIANTS, HfBackend

if TYPE_CHECKING:
    import torch

    from exporters.hf.program import HfModel

__all__ = ["OnnxBackend"]


class OnnxBackend(HfBackend):
    """transformers' OnnxExporter, else ``torch.onnx.export(dynamo=True)``.

    `ExportOptions.optimize` is about onnxscript's optimizer, as in transformers' own export
    tests; what ONNX Runtime does to a program when it opens it is a part of running it.
    """

    name = "onnx"
    test_prefix = "onnx"
    export_format = "onnx"
    variants = VARIANTS
    packages = ("torch", "onnx", "onnxscript", "onnxruntime")
    serves_plainly = True
    # Not onnxruntime: importing it starts a thread, which would not live on in a child.
    preload = ("torch", "transformers", "exporters.onnx.preloaded")
    distributions = ("torch", "transformers", "onnx", "onnxscript", "onnxruntime")

    def tolerance(self, runtime: str | None) -> float:
        """1e-3."""
        return 1e-3

    def configured(self, options: ExportOptions) -> Mapping[str, Any]:
        """Whether onnxscript's optimizer runs."""
        return {"optimize": options.optimize}

    def runner_arguments(self) -> Mapping[str, Any]:
        """A session of one thread."""
        from exporters.onnx.session import session_options

        return {"session_options": session_options()}

    def loaded(self, exported: Any, program: HfModel) -> HfModel:
        """The program, checked."""
        from exporters.onnx.program import OnnxModel

        return OnnxModel(program.exported, program.traced)

    def export_plainly(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        """``torch.onnx.export(dynamo=True)``."""
        from exporters.plain.onnx import export

        return export(model, inputs, options)
