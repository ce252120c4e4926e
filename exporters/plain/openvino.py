"""OpenVINO without transformers' exporter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import openvino
import torch

from exporters.base import ExportedModel, UnsupportedOutputError
from exporters.openvino.outputs import COMPILED
from exporters.plain.inlined import InlinedModel
from exporters.plain.program import PlainProgram

__all__ = ["export"]


def export(model: torch.nn.Module, inputs: Mapping[str, Any], dynamic: bool) -> ExportedModel:
    """Export a forward pass with ``openvino.convert_model``.

    Args:
        model: The model, in eval mode on the CPU.
        inputs: Keyword inputs of the trace.
        dynamic: Whether the size of every axis is left open.
    """
    program = PlainProgram.of(model, inputs, dynamic)
    return _PlainOpenVino(program, openvino.convert_model(program.exported))


class _PlainOpenVino(InlinedModel):
    """A compiled program of OpenVINO."""

    def __init__(self, program: PlainProgram, model: Any) -> None:
        super().__init__(program)
        self._compiled = openvino.Core().compile_model(model, "CPU", dict(COMPILED))
        # A port has the name of the placeholder; those that nothing reads are dropped.
        placeholders = program.exported.graph_signature.user_inputs
        self._leaf_of = dict(zip(placeholders, program.binding.names, strict=True))

    def infer(self, arguments: Mapping[str, torch.Tensor]) -> Sequence[torch.Tensor]:
        """Run; ports are bound by name, and outputs taken by place."""
        feed = {
            name: arguments[self._leaf_of[name]].numpy()
            for port in self._compiled.inputs
            for name in port.get_names() & self._leaf_of.keys()
        }
        unbound = [port for port in self._compiled.inputs if not port.get_names() & feed.keys()]
        if unbound:
            raise UnsupportedOutputError(f"the program takes {unbound}, which no input is called")
        results = self._compiled(feed, share_inputs=False)
        return [torch.from_numpy(results[port].copy()) for port in self._compiled.outputs]
