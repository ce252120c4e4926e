"""A model as a program of torch.export, with what its inputs and outputs looked like."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from exporters.flat import Binding, FlatForward, Layout

__all__ = ["PlainProgram"]


@dataclass(frozen=True)
class PlainProgram:
    """An exported program, and how keyword inputs become its arguments.

    Attributes:
        exported: torch's ``ExportedProgram`` of positional tensors.
        arguments: Those of the trace.
        binding: The names and the order of the inputs.
        layout: The structure of the output.
    """

    exported: torch.export.ExportedProgram
    arguments: tuple[torch.Tensor, ...]
    binding: Binding
    layout: Layout

    @classmethod
    def of(cls, model: torch.nn.Module, inputs: Mapping[str, Any], dynamic: bool) -> PlainProgram:
        """Export `model` with ``torch.export.export(strict=False)``.

        Args:
            model: The model.
            inputs: Keyword inputs of the trace.
            dynamic: Whether torch may leave the size of every axis open.
        """
        with torch.no_grad():
            flat = FlatForward(model, inputs)
            arguments = flat.binding.flatten(inputs)
            _name_arguments(flat, len(arguments))
            shapes = tuple(map(_every_axis, arguments)) if dynamic else None
            exported = torch.export.export(flat, arguments, dynamic_shapes=shapes, strict=False)
        return cls(exported, flat.binding.flatten(inputs), flat.binding, flat.layout)


def _every_axis(tensor: torch.Tensor) -> dict[int, Any]:
    return dict.fromkeys(range(tensor.dim()), torch.export.Dim.AUTO)


def _name_arguments(flat: FlatForward, count: int) -> None:
    """Give `flat` as many arguments as it is called with instead of ``*tensors``.

    Guards on sizes that torch 2.9 makes of ``*tensors`` name what is not there.
    """
    forward: Any = flat.forward

    def named(*tensors: torch.Tensor) -> Any:
        return forward(*tensors)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(f"tensor_{place}", kind) for place in range(count)]
    named.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.forward = named  # type: ignore[method-assign]
