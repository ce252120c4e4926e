"""Functions of a model's file replaced for a method of one module, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CellType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn

__all__ = ["Wrap", "rebind"]

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Gives what is called in the place of a function."""


def rebind(module: nn.Module, method: str, wraps: Mapping[str, Wrap]) -> None:
    """Let `method` of this module, under its decorators, find other functions by these names."""
    function = _rebound(getattr(type(module), method), wraps)
    setattr(module, method, MethodType(function, module))


def _rebound(function: Any, wraps: Mapping[str, Wrap]) -> Any:
    """A copy of `function` that finds what is wrapped among its globals."""
    inner = getattr(function, "__wrapped__", None)
    if inner is None:
        present = function.__globals__
        changed = {name: wrap(present[name]) for name, wrap in wraps.items() if name in present}
        return _copy(function, {**present, **changed}, function.__closure__)
    replaced = _rebound(inner, wraps)
    cells = [
        CellType(replaced) if cell.cell_contents is inner else cell
        for cell in function.__closure__ or ()
    ]
    copied = _copy(function, function.__globals__, tuple(cells))
    copied.__wrapped__ = replaced
    return copied


def _copy(function: Any, names: dict[str, Any], closure: tuple[CellType, ...] | None) -> Any:
    copied = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, closure
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    copied.__dict__.update(vars(function))
    return copied
