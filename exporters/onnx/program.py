"""An ONNX program that transformers' exporter has made."""

from __future__ import annotations

from typing import Any

import onnx_ir

from exporters.hf.inputs import HfInputs
from exporters.hf.program import HfModel
from exporters.hf.toolkit import leaf_tensors
from exporters.onnx.session import check

__all__ = ["OnnxModel"]


class OnnxModel(HfModel):
    """An ONNX program, checked, in a session of ONNX Runtime."""

    def __init__(self, exported: Any, traced: HfInputs) -> None:
        super().__init__(exported, traced)
        self.notes = (*check(onnx_ir.to_proto(exported.program)), *self._not_taken())

    def _not_taken(self) -> tuple[str, ...]:
        """The inputs that were pruned from the graph, since it does not read them."""
        taken = {spec.name.removeprefix("input.") for spec in self.runner.session.get_inputs()}
        names = [name for name in leaf_tensors(self.traced.prepared) if name not in taken]
        return (f"the program does not take {', '.join(names)}",) if names else ()
