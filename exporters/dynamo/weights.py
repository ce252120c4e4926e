"""The weights of a module that ``torch.export`` has made, replaced by name."""

from __future__ import annotations

import copy

import torch

from exporters.base import WeightsInlinedError

__all__ = ["with_weights_of"]


def with_weights_of(
    program: torch.nn.Module, model: torch.nn.Module, prefix: str = ""
) -> torch.nn.Module:
    """A copy of `program` with the parameters and buffers of `model`; persistent ones or not.

    Constants that the program holds and the model has no name for stay as they are.

    Args:
        program: ``ExportedProgram.module()``, whose tensors have the names of the model's.
        model: Where the values come from.
        prefix: What stands before the model's names in the program.

    Raises:
        WeightsInlinedError: A weight is missing in `model` or has another shape, or two that are
            one in the program differ in `model`.
    """
    twin = copy.deepcopy(program)
    values = {prefix + name: tensor for name, tensor in _tensors(model).items()}
    written: dict[int, tuple[str, torch.Tensor]] = {}
    with torch.no_grad():
        for name, target in _tensors(twin).items():
            value = _value_of(name, target, values)
            if value is None:
                continue
            first, already = written.setdefault(id(target), (name, value))
            if already is not value and not torch.equal(already, value):
                raise WeightsInlinedError(f"{first} and {name} are one weight in the program")
            target.copy_(value)
    return twin


def _tensors(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers by every name that they have."""
    parameters = dict(module.named_parameters(remove_duplicate=False))
    return {**parameters, **dict(module.named_buffers(remove_duplicate=False))}


def _value_of(
    name: str, target: torch.Tensor, values: dict[str, torch.Tensor]
) -> torch.Tensor | None:
    value = values.get(name)
    if value is None and isinstance(target, torch.nn.Parameter):
        raise WeightsInlinedError(f"the program has a parameter {name}, and the model has none")
    if value is not None and value.shape != target.shape:
        raise WeightsInlinedError(
            f"{name} is {tuple(value.shape)}, and {tuple(target.shape)} in the program"
        )
    return value
