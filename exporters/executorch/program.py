"""An ExecuTorch program that transformers' exporter has made, in ExecuTorch's runtime."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch.utils import _pytree as pytree

from exporters.executorch.limits import limits_told
from exporters.executorch.slots import SlotError, Slots
from exporters.hf.inputs import HfInputs
from exporters.hf.program import HfModel

__all__ = ["ExecutorchModel"]


class ExecutorchModel(HfModel):
    """The bytes of a program; where it changes buffers, each run loads them anew."""

    def __init__(self, exported: Any, traced: HfInputs) -> None:
        from transformers.exporters.metadata import load_treespec

        super().__init__(exported, traced)
        self._slots = Slots(exported.program.exported_program("forward"))
        self._buffer = exported.program.buffer
        self._program: Any = None
        (component,) = exported.components.values()
        self._structure = load_treespec(component.metadata.out_spec)

    def run(self, inputs: dict[str, Any]) -> Any:
        """Run on inputs as transformers prepares them.

        Raises:
            SlotError: Inputs or outputs are not those that the program declares.
            RuntimeLimitError: They are, and the runtime cannot run it for a reason of its own.
        """
        bound = self._slots.bind(inputs)
        with limits_told():
            outputs = _execute(self._program_for_a_run(), bound)
        return self._restored(self._slots.user_outputs(outputs))

    def _program_for_a_run(self) -> Any:
        """A program without the state of another run; to load one fills its whole arena."""
        if self._program is None or self._slots.changes_buffers:
            runtime: Any = import_module("executorch.runtime")
            self._program = runtime.Runtime.get().load_program(self._buffer)
        return self._program

    def _restored(self, leaves: list[Any]) -> Any:
        if len(leaves) != self._structure.num_leaves:
            raise SlotError(
                f"the program gives {len(leaves)} leaves, the model {self._structure.num_leaves}"
            )
        return pytree.tree_unflatten(leaves, self._structure)


def _execute(program: Any, bound: list[Any]) -> list[Any]:
    """The outputs of a method that has run nothing before, in memory that outlives it."""
    method = program.load_method("forward")
    if method is None or method.metadata.num_inputs() != len(bound):
        raise SlotError(f"the program in the runtime does not take {len(bound)} inputs")
    outputs = method.execute(bound)
    return [o.clone() if isinstance(o, torch.Tensor) else o for o in outputs]
