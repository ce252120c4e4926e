"""Named leaves of nested inputs and outputs, and copies with other tensors in their place."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import torch

__all__ = ["leaves", "substitute", "tensor_leaves"]


def leaves(value: Any) -> dict[str, Any]:
    """Every leaf of `value` under its dotted path, such as ``past_key_values.layers.0.keys``.

    Mappings (so every ``ModelOutput``), sequences and dataclasses are walked in their own order;
    of any other object (a ``Cache``) only what holds tensors is a leaf. ``None``, numbers,
    strings and empty containers are leaves. A bare tensor has the path ``""``.
    """
    return dict(_walk(value, "", set()))


def tensor_leaves(value: Any) -> dict[str, torch.Tensor]:
    """The leaves of `value` that are tensors, by path, in order."""
    return {path: leaf for path, leaf in leaves(value).items() if isinstance(leaf, torch.Tensor)}


def substitute(value: Any, replacements: Mapping[int, Any]) -> Any:
    """A deep copy of `value` in which the object with ``id`` `k` is ``replacements[k]`` itself."""
    return copy.deepcopy(value, dict(replacements))


def _walk(value: Any, path: str, parents: set[int]) -> Iterator[tuple[str, Any]]:
    children = _children(value)
    if children is None:
        yield path, value
        return
    if id(value) in parents:
        return
    for name, child in children:
        yield from _walk(child, f"{path}.{name}" if path else name, parents | {id(value)})


def _children(value: Any) -> list[tuple[str, Any]] | None:
    """The named parts of a container; None for a leaf."""
    if isinstance(value, (torch.Tensor, str, bytes, type)):
        return None
    if isinstance(value, Mapping):
        return [(str(key), item) for key, item in value.items()] or None
    if isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", None) or [str(i) for i in range(len(value))]
        return list(zip(names, value, strict=True)) or None
    if dataclasses.is_dataclass(value):
        return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)] or None
    if type(value).__module__.partition(".")[0] in ("builtins", "torch", "numpy"):
        return None
    return [(name, item) for name, item in _attributes(value) if _holds_tensor(item, set())]


def _attributes(value: Any) -> list[tuple[str, Any]]:
    return list(getattr(value, "__dict__", {}).items())


def _holds_tensor(value: Any, parents: set[int]) -> bool:
    if isinstance(value, torch.Tensor):
        return True
    if id(value) in parents:
        return False
    children = _children_of_any(value)
    return any(_holds_tensor(child, parents | {id(value)}) for child in children)


def _children_of_any(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, (str, bytes, type)) or callable(value):
        return []
    return [item for _, item in _attributes(value)]
