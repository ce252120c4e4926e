"""Code to start from: a lowering of an op, or a trace patch of the module that runs it."""

from __future__ import annotations

import keyword
from typing import Any, Final

from exporters.base import OpStatus, OpUse
from exporters.neuron.ops import overload_of

__all__ = ["sketch"]

_LOWERING: Final = '''\
# exporters/neuron/lowerings/<family>.py; join LOWERINGS in lowerings/__init__.py
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.lowerings.base import Lowering

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]


def {function}({parameters}) -> Any:
    """``{op}``: say what it gives.

    {schema}
    Seen: {operands}
    """
    raise NotImplementedError("compute it with ops that torch_xla lowers")


LOWERINGS: Final = (
    Lowering(
        op="{op}",
        function={function},
        summary="Say what takes the place of the op.",
        source="Name where the definition is from.",
    ),
)
'''

_PATCH: Final = '''\
# exporters/neuron/patches/<model>.py; join PATCHES in patches/__init__.py
from __future__ import annotations

from collections.abc import Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import Target, TracePatch

if TYPE_CHECKING:
    from torch import nn


def find(model: nn.Module) -> list[nn.Module]:
    """The modules that run {op} at {source}."""
    from {module} import {cls}

    return [module for module in model.modules() if isinstance(module, {cls})]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Give these modules a forward without it."""
    for module in modules:
        module.forward = MethodType(_forward, module)


def _forward(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("the forward of {cls} without {op}")


PATCH: Final = TracePatch(
    name="{model}",
    summary="Say what takes the place of what.",
    targets=(Target("{module}:{cls}.forward"),),
    find=find,
    apply=apply,
    model_types=("{model}",),
)
'''


def sketch(use: OpUse) -> str | None:
    """See `Backend.sketch`."""
    if use.status.is_mended:
        return None
    if use.status is OpStatus.READ and use.module_class:
        return _patch(use, *use.module_class.split(":"))
    return _lowering(use)


def _lowering(use: OpUse) -> str:
    schema = overload_of(use.op)._schema
    name = schema.name.partition("::")[2].lstrip("_")
    return _LOWERING.format(
        op=use.op,
        function=_allowed(name),
        parameters=", ".join(_parameters(schema)),
        schema=str(schema),
        operands="; ".join(use.operands),
    )


def _parameters(schema: Any) -> list[str]:
    """The op's own arguments with their defaults, tensors with their type."""
    found: list[str] = []
    for argument in schema.arguments:
        if argument.kwarg_only and "*" not in found:
            found.append("*")
        kind = "torch.Tensor" if str(argument.type) == "Tensor" else "Any"
        default = f" = {argument.default_value!r}" if argument.has_default_value() else ""
        found.append(f"{_allowed(argument.name)}: {kind}{default}")
    return found


def _allowed(name: str) -> str:
    """`name` as Python takes it: an op of ATen has an argument ``from``."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _patch(use: OpUse, module: str, name: str) -> str:
    parts = module.split(".")
    is_model = parts[:2] == ["transformers", "models"] and len(parts) > 2
    return _PATCH.format(
        op=use.op,
        source=use.source or "an unknown line",
        module=module,
        cls=name,
        model=parts[2] if is_model else parts[-1],
    )
