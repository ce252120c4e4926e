"""Functions of torch replaced while a method of one module runs, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn
    from torch.overrides import TorchFunctionMode

__all__ = ["Replacements", "replace_in"]

Replacements = Callable[[], Mapping[Any, Callable[..., Any]]]
"""Gives what is called in the place of each function, with the function's own arguments."""


def replace_in(module: nn.Module, method: str, replacements: Replacements) -> None:
    """Let `method` of this module, and what it calls, use replacements of torch's functions."""
    setattr(module, method, partial(_run, replacements, getattr(module, method)))


def _run(replacements: Replacements, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    with _mode(replacements()):
        return method(*args, **kwargs)


def _mode(replacements: Mapping[Any, Callable[..., Any]]) -> TorchFunctionMode:
    """A mode that calls replacements; other threads and other modules keep torch's own.

    A function mode stands above the dispatcher. A `TorchDispatchMode` would not do: under one,
    writes into views of tensors made on the XLA device are lost.
    """
    from torch.overrides import TorchFunctionMode

    class Replacing(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return replacements.get(func, func)(*args, **(kwargs or {}))

    return Replacing()
