"""What the lowering tests run in a child: a lowering on placeholders, and then on their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from exporters.neuron import lazy
from exporters.neuron.lowerings import LOWERINGS
from exporters.neuron.lowerings.base import evaluating
from exporters.neuron.ops import overload_of
from tests.exporters.lowering_samples import Call, calls_of, made_calls, main_dtype


class Placed:
    """Placeholders for the tensors of a call, and the values that they stand for."""

    def __init__(self) -> None:
        self.values: dict[int, torch.Tensor] = {}

    def place(self, tensor: torch.Tensor) -> torch.Tensor:
        placeholder = lazy.placeholder(tensor.shape, tensor.dtype)
        self.values[lazy.tensor_id(placeholder)] = lazy.to_device(tensor)
        return placeholder

    def run(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """What the graph of `tensors` gives on the values."""
        arguments = [self.values.get(id_, value) for id_, value in lazy.graph_leaves(tensors)]
        return [t.cpu() for t in lazy.run_stablehlo(lazy.stablehlo(tensors), arguments)]


def lower(payload: dict[str, Any], report: Callable[[str], None]) -> dict[str, Any]:
    """Trace several calls of an op on placeholders, and run the last."""
    op = payload["op"]
    calls = [*made_calls(op)[: payload["most"]], *calls_of(op, main_dtype(op))]
    calls = [call for call in calls if LOWERINGS[op].covers(*call.args, **call.kwargs)]
    report("export")
    moved: dict[str, None] = {}
    for call in calls[: payload["most"]]:
        found, placed = _traced(op, call, moved)
    report("run")
    return {
        "calls": len(calls),
        "moved": list(moved),
        "errors": _errors(
            placed.run(found), tree_leaves(overload_of(op)(*call.args, **call.kwargs))
        ),
    }


def _traced(op: str, call: Call, moved: dict[str, None]) -> tuple[list[torch.Tensor], Placed]:
    placed = Placed()
    args, kwargs = tree_map_only(torch.Tensor, placed.place, (call.args, call.kwargs))
    asked: dict[str, int] = {}

    def evaluate(tensor: torch.Tensor) -> torch.Tensor:
        """Reading is the trace's part, as here, and not the lowering's."""
        before = lazy.read_counters()
        (value,) = placed.run([tensor])
        asked.update(_moves(before, asked))
        return value

    before = lazy.read_counters()
    with evaluating(evaluate):
        found = tree_leaves(LOWERINGS[op].function(*args, **kwargs))
    read = _moves(before, {})
    moved.update({name: None for name, times in read.items() if times != asked.get(name, 0)})
    return found, placed


def _moves(before: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    after = lazy.read_counters()
    names = [name for name, count in after.items() if count != before.get(name, 0)]
    return {name: after[name] - before.get(name, 0) + more.get(name, 0) for name in names}


def _errors(found: list[torch.Tensor], expected: list[torch.Tensor]) -> list[Any]:
    """Shape, dtype and the largest difference of each result."""
    return [
        [
            list(result.shape) == list(wanted.shape),
            str(result.dtype) == str(wanted.dtype),
            _difference(result, wanted),
        ]
        for result, wanted in zip(found, expected, strict=True)
    ]


def _difference(found: torch.Tensor, expected: torch.Tensor) -> float:
    if not expected.numel():
        return 0.0
    wide = torch.complex128 if expected.is_complex() else torch.float64
    scale = max(1.0, float(expected.to(wide).abs().max()))
    return float((found.to(wide) - expected.to(wide)).abs().max()) / scale
