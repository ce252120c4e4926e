"""Tensors and modules that a module holds unregistered, where a trace finds them.

A trace moves parameters and buffers. A tensor that is a plain attribute, such as a cache that an
earlier forward has filled, or a module in a plain list stays on the CPU, and an op with one
operand there and one on the device fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from exporters.module_parts import every_module, held_modules
from exporters.neuron.patches.base import Target, TracePatch

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["HELD"]

_PREFIX: Final = "held_"


def find(model: nn.Module) -> list[nn.Module]:
    """The modules, registered or not, that hold what a trace would leave on the CPU."""
    weights = {id(weight) for weight in (*model.parameters(), *model.buffers())}
    parts = {id(part) for part in model.modules()}
    return [
        module
        for module in every_module(model)
        if any(id(tensor) not in weights for _, tensor in _tensors(module))
        or any(id(part) not in parts for _, part in held_modules(module))
    ]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Register it, under names that depend on the model's code alone."""
    for module in modules:
        for name, tensor in list(_tensors(module)):
            del vars(module)[name]
            module.register_buffer(name, tensor, persistent=False)
        for name, part in list(held_modules(module)):
            if not _leads_back(part, module):
                module._modules[_PREFIX + name] = part


def _tensors(module: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors that are attributes and no buffers, without those that every forward sets anew.

    What has no dimensions may be on the CPU anywhere, and is often there to be read.
    """
    import torch

    set_by_hooks = {getattr(hook, "name", None) for hook in module._forward_pre_hooks.values()}
    for name, value in vars(module).items():
        if isinstance(value, torch.Tensor) and value.dim() and name not in set_by_hooks:
            yield name, value


def _leads_back(part: nn.Module, holder: nn.Module) -> bool:
    """Whether `part` contains `holder`: registered, the model would contain itself."""
    return any(module is holder for module in every_module(part))


HELD: Final = TracePatch(
    name="held",
    summary="Tensors and modules that are held as plain attributes are registered.",
    targets=(
        Target("torch.nn:Module.register_buffer", uses=("_non_persistent_buffers_set",)),
        Target("torch.nn:Module.named_modules", uses=("_modules",)),
    ),
    find=find,
    apply=apply,
    mentions=("cached_rotary_positional_embedding", "self._embed = ", "input_projections = []"),
)
