"""The structure of a module and its parts at one moment, and the way back to it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from exporters.module_parts import every_module

if TYPE_CHECKING:
    from torch import nn

__all__ = ["ModuleSnapshot"]

_CONTAINERS = (dict, OrderedDict, list, set)


class ModuleSnapshot:
    """What hangs on a module and on each of its parts: attributes, tensors, hooks, class.

    It holds references and copies no tensor, so it costs nothing to speak of, and it does not
    undo what is written into a tensor in place, nor into objects that are neither modules nor
    containers. Everything else goes back to the very objects of before and to their order,
    including what a forward leaves behind on a module.
    """

    def __init__(self, model: nn.Module) -> None:
        self._saved = [_SavedModule(module) for module in every_module(model)]

    def restore(self) -> None:
        """Put every module back as it was."""
        for saved in self._saved:
            saved.restore()


class _SavedModule:
    """One module: its class, its ``__dict__``, and the contents of the containers in there."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._class = type(module)
        self._attributes = dict(vars(module))
        containers = _containers(self._attributes.values(), set())
        self._contents = [(container, container.copy()) for container in containers]

    def restore(self) -> None:
        if type(self._module) is not self._class:
            self._module.__class__ = self._class
        _refill(vars(self._module), self._attributes)
        for container, content in self._contents:
            _refill(container, content)


def _containers(values: Iterable[Any], seen: set[int]) -> Iterator[Any]:
    """Every container among `values`, and those inside of containers and tuples."""
    for value in values:
        if type(value) not in (*_CONTAINERS, tuple) or id(value) in seen:
            continue
        seen.add(id(value))
        if type(value) is not tuple:
            yield value
        yield from _containers(value.values() if isinstance(value, dict) else value, seen)


def _refill(container: Any, content: Any) -> None:
    """Give `container` the `content` and the order that it had; it stays the same object.

    What handles and weak references point at is the container, so it cannot be replaced.
    """
    if _identity(container) == _identity(content):
        return
    container.clear()
    if isinstance(container, list):
        container.extend(content)
    else:
        container.update(content)


def _identity(container: Any) -> list[Any]:
    """Equal for two containers that hold the same objects in the same order."""
    if isinstance(container, dict):
        return [(key, id(value)) for key, value in container.items()]
    members: Iterable[Any] = container
    return [id(member) for member in members]
