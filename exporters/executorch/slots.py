"""The slots of an ExecuTorch program: what goes into each by its name, what comes out of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import torch
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torch.fx.graph import _Namespace
from torch.utils import _pytree as pytree

from exporters.base import ExportError

__all__ = ["InputSlot", "SlotError", "Slots"]


class SlotError(ExportError):
    """A slot of the program cannot be bound; nothing that it gives would mean anything."""


@dataclass(frozen=True)
class InputSlot:
    """One input of the program.

    Attributes:
        name: Its name in the graph signature, made of the path of the leaf that was traced.
        traced: The tensor of the trace, fake, its axes symbolic where they are dynamic; else
            the constant that the program holds.
    """

    name: str
    traced: Any

    def fed(self, leaves: Mapping[str, Any]) -> Any:
        """What the runtime is given for it.

        Raises:
            SlotError: There is no leaf of its name, or not one that it takes.
        """
        if self.name not in leaves:
            known = ", ".join(leaves)
            raise SlotError(f"slot {self.name!r} has no input of its name; there are: {known}")
        leaf = leaves[self.name]
        problem = self._problem(leaf)
        if problem:
            raise SlotError(f"slot {self.name!r} {problem}")
        if isinstance(leaf, torch.Tensor):
            return leaf.contiguous()
        return None if isinstance(leaf, str) else leaf  # the runtime has no value for a string

    def _problem(self, leaf: Any) -> str | None:
        if not isinstance(self.traced, torch.Tensor):
            is_same = type(leaf) is type(self.traced) and leaf == self.traced
            return None if is_same else f"holds {self.traced!r} and is given {leaf!r}"
        if not isinstance(leaf, torch.Tensor):
            return f"takes a tensor and is given {leaf!r}"
        if leaf.dtype != self.traced.dtype:
            return f"takes {self.traced.dtype} and is given {leaf.dtype}"
        fixed = [size if isinstance(size, int) else None for size in self.traced.shape]
        if len(fixed) != leaf.dim() or any(
            size not in (None, given) for size, given in zip(fixed, leaf.shape, strict=True)
        ):
            return f"takes {tuple(self.traced.shape)} and is given {tuple(leaf.shape)}"
        return None


class Slots:
    """Inputs and outputs of a lowered program, as its graph signature has them."""

    def __init__(self, program: torch.export.ExportedProgram) -> None:
        self.inputs = tuple(_inputs(program))
        # The runtime writes buffers in their place and gives everything else back.
        kinds = [spec.kind for spec in program.graph_signature.output_specs]
        self.changes_buffers = OutputKind.BUFFER_MUTATION in kinds
        self._outputs = tuple(kind for kind in kinds if kind is not OutputKind.BUFFER_MUTATION)

    def bind(self, inputs: Mapping[str, Any]) -> list[Any]:
        """The inputs in the order of the slots, each found by its name.

        Args:
            inputs: Keyword inputs of the traced forward.

        Raises:
            SlotError: A slot has no input, or a tensor has no slot.
        """
        names = {slot.name for slot in self.inputs}
        leaves = dict(_named(inputs, names))
        for name, leaf in leaves.items():
            if isinstance(leaf, torch.Tensor) and name not in names:
                raise SlotError(f"input {name!r} has no slot; there are: {', '.join(names)}")
        return [slot.fed(leaves) for slot in self.inputs]

    def user_outputs(self, outputs: Sequence[Any]) -> list[Any]:
        """What the model returned, without the inputs that it has changed.

        Raises:
            SlotError: The program gives another number of outputs than it declares.
        """
        if len(outputs) != len(self._outputs):
            raise SlotError(
                f"the program gives {len(outputs)} outputs and declares {len(self._outputs)}"
            )
        pairs = zip(outputs, self._outputs, strict=True)
        return [output for output, kind in pairs if kind is OutputKind.USER_OUTPUT]


def _inputs(program: torch.export.ExportedProgram) -> Iterator[InputSlot]:
    traced = {n.name: n.meta.get("val") for n in program.graph.nodes if n.op == "placeholder"}
    for spec in program.graph_signature.input_specs:
        if spec.kind is not InputKind.USER_INPUT:
            continue
        is_constant = isinstance(spec.arg, ConstantArgument)
        value = spec.arg.value if is_constant else traced.get(spec.arg.name)
        yield InputSlot(spec.arg.name, value)


def _word(key: Any) -> str:
    """A step of a path as torch.export has it in a name: a mapping's key, an index, a field."""
    if isinstance(key, pytree.MappingKey):
        return re.sub(r"[^a-zA-Z0-9]", "_", str(key.key))
    return str(key.idx if isinstance(key, pytree.SequenceKey) else key.name)


def _named(inputs: Mapping[str, Any], slots: Set[str]) -> Iterator[tuple[str, Any]]:
    """Each leaf under the name that torch.export, or a later copy of its graph, gives it."""
    # Copies make ``input_1`` of ``input``, as of any name of Python's.
    renamed: Any = _Namespace()  # type: ignore[no-untyped-call]
    for path, leaf in pytree.tree_flatten_with_path(dict(inputs))[0]:
        wanted = "_".join(_word(key) for key in path).lower()
        copied = renamed.create_name(wanted, None)
        yield wanted if wanted in slots else copied, leaf
