"""torch.export without transformers' exporter."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch

from exporters.base import ExportedModel
from exporters.dynamo.weights import with_weights_of
from exporters.plain.program import PlainProgram

__all__ = ["export"]

_MODEL = "model."
"""Where `FlatForward` keeps the model."""


def export(model: torch.nn.Module, inputs: Mapping[str, Any], dynamic: bool) -> ExportedModel:
    """Export a forward pass.

    Args:
        model: The model, in eval mode on the CPU.
        inputs: Keyword inputs of the trace.
        dynamic: Whether the size of every axis is left open.
    """
    program = PlainProgram.of(model, inputs, dynamic)
    return _PlainModule(program, program.exported.module())


class _PlainModule(ExportedModel):
    """A program as the module that torch makes of it."""

    def __init__(self, program: PlainProgram, module: torch.nn.Module) -> None:
        self._program = program
        self._module = module

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        with torch.no_grad():
            return self._program.layout.restore(
                self._module(*self._program.binding.flatten(inputs))
            )

    def with_weights(self, model: torch.nn.Module) -> ExportedModel:
        replaced = copy.copy(self)
        replaced._module = with_weights_of(self._module, model, _MODEL)
        return replaced
