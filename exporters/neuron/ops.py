"""What the dispatcher says of an op, and of its arguments."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

__all__ = [
    "functionalization",
    "has_read_result",
    "is_to_host",
    "name_of",
    "overload_of",
    "written_operands",
    "xla_tensors",
]

_READING_TAGS = frozenset({torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape})


def name_of(func: Any) -> str:
    """``aten::im2col``: the name under which torch_xla counts the op."""
    name: str = func._schema.name
    overload = func._schema.overload_name
    return f"{name}.{overload}" if overload else name


def overload_of(name: str) -> Any:
    """The inverse of `name_of`; an op without a namespace is one of aten."""
    namespace, _, rest = name.rpartition("::")
    op, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace or "aten"), op)
    return getattr(packet, overload or "default")


def xla_tensors(tree: Any) -> list[torch.Tensor]:
    """The tensors of nested arguments or results that are on the XLA device."""
    return [
        leaf
        for leaf in tree_leaves(tree)
        if isinstance(leaf, torch.Tensor) and leaf.device.type == "xla"
    ]


def has_read_result(func: Any, args: Any, kwargs: Any) -> bool:
    """Whether the result is a value on the CPU, or has a shape that depends on values."""
    return (
        bool(_READING_TAGS.intersection(func.tags))
        or is_to_host(kwargs)
        or any(t.device.type == "cpu" for t in written_operands(func, args, kwargs))
    )


def is_to_host(kwargs: Any) -> bool:
    """Whether the op is told to give its result on the CPU."""
    place = kwargs.get("device")
    return place is not None and torch.device(place).type == "cpu"


def written_operands(func: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The arguments into which the op writes."""
    names = zip(func._schema.arguments, args, strict=False)
    values = {argument.name: value for argument, value in names} | kwargs
    return [
        tensor
        for argument in func._schema.arguments
        if argument.alias_info is not None and argument.alias_info.is_write
        for tensor in tree_leaves(values.get(argument.name))
        if isinstance(tensor, torch.Tensor)
    ]


def functionalization() -> Any:
    """Gives factory functions the functionalization that a dispatch mode takes away.

    Without it, writes into views of what they make are silently dropped. Wrapping the results
    afterwards would mend that and still leave another graph: ``arange`` and its like fill an empty
    tensor, and a view of one that was written to is made anew where it is used.
    """
    guard: Any = vars(torch._C)["_SetExcludeDispatchKeyGuard"]
    return guard(torch._C.DispatchKey.Functionalize, False)
