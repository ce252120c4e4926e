"""Calls of a model's modules, recorded or answered by something else while it generates."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

__all__ = ["Answer", "answering", "answering_copy"]

Answer = Callable[[dict[str, Any]], Any]
"""Takes the place of a forward: keyword inputs in, its output out."""


def answering_copy(model: torch.nn.Module, answer: Answer) -> Any:
    """A model that shares everything with `model` but its forward, which `answer` gives."""
    # What generate writes onto a model, such as the cache it keeps, stays on the copy.
    other = copy.copy(model)
    other.forward = _as_forward(model.forward, answer)
    return other


@contextmanager
def answering(module: torch.nn.Module, answer: Answer) -> Iterator[None]:
    """Have `answer` give the forward of a module that lies within a model."""
    held = "forward" in vars(module)
    forward = module.forward
    module.forward = _as_forward(forward, answer)
    try:
        yield
    finally:
        if held:
            module.forward = forward
        else:
            del module.forward


def _as_forward(forward: Callable[..., Any], answer: Answer) -> Callable[..., Any]:
    # generate asks for the signature, which follows what `wraps` leaves behind.
    signature = inspect.signature(forward)

    @functools.wraps(forward)
    def answered(*args: Any, **kwargs: Any) -> Any:
        return answer(_by_name(signature, args, kwargs))

    return answered


def _by_name(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Keyword inputs of a call, also of what was given by position."""
    named: dict[str, Any] = {}
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            named.update(value)
        else:
            named[name] = value
    return named
