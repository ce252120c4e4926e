"""ONNX without transformers' exporter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnxruntime
import torch

from exporters.base import ExportedModel, ExportOptions
from exporters.onnx.session import check, session_options
from exporters.plain.inlined import InlinedModel
from exporters.plain.program import PlainProgram

__all__ = ["export"]


def export(
    model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
) -> ExportedModel:
    """Export a forward pass with ``torch.onnx.export``.

    Args:
        model: The model, in eval mode on the CPU.
        inputs: Keyword inputs of the trace.
        options: ``dynamic`` and ``optimize`` are heeded.
    """
    program = PlainProgram.of(model, inputs, options.dynamic)
    # Names by place: the names of leaves can be those of inputs and of outputs at once.
    converted = torch.onnx.export(
        program.exported,
        args=program.arguments,
        input_names=[f"input.{name}" for name in program.binding.names],
        output_names=[f"output.{name}" for name in program.layout.names],
        dynamo=True,
        optimize=options.optimize,
        verbose=False,
    )
    if converted is None:
        raise TypeError("torch.onnx.export has made no program")
    return _PlainOnnx(program, converted.model_proto)


class _PlainOnnx(InlinedModel):
    """A checked program in a session of ONNX Runtime."""

    def __init__(self, program: PlainProgram, proto: Any) -> None:
        super().__init__(program)
        self.notes = check(proto)
        self._session = onnxruntime.InferenceSession(
            proto.SerializeToString(), session_options(), providers=["CPUExecutionProvider"]
        )
        self._names = [spec.name for spec in self._session.get_inputs()]

    def infer(self, arguments: Mapping[str, torch.Tensor]) -> Sequence[torch.Tensor]:
        """Run; inputs that were pruned from the graph are not given."""
        feed = {f"input.{name}": tensor.numpy() for name, tensor in arguments.items()}
        results = self._session.run(None, {name: feed[name] for name in self._names})
        return [torch.from_numpy(result) for result in results]
