"""The parts of a model, also those that PyTorch does not know of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn

__all__ = ["every_module", "held_modules"]


def every_module(model: nn.Module) -> Iterator[nn.Module]:
    """`model` and all of its parts, each once, with those that hang on it unregistered."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        for module in waiting.pop().modules():
            if id(module) not in seen:
                seen.add(id(module))
                yield module
                waiting.extend(held for _, held in held_modules(module))


def held_modules(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Modules among the attributes of `module` that it has not registered.

    They stand in plain lists, tuples or dicts, or were set past ``__setattr__``. Each comes with
    a name made of its attribute and its place there, ``projections_0``.
    """
    registered = {id(part) for part in module.children()}
    attributes = {name: value for name, value in vars(module).items() if name != "_modules"}
    for name, part in _modules(attributes.items(), set()):
        if id(part) not in registered:
            yield name, part


def _modules(named: Iterable[tuple[Any, Any]], seen: set[int]) -> Iterator[tuple[str, nn.Module]]:
    """The modules in nested containers; one that contains itself is entered once."""
    from torch import nn

    for name, value in named:
        if isinstance(value, nn.Module):
            yield name, value
        elif type(value) in (list, tuple, dict) and id(value) not in seen:
            seen.add(id(value))
            members = value.items() if type(value) is dict else enumerate(value)
            yield from _modules(((f"{name}_{key}", one) for key, one in members), seen)
