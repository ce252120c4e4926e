"""What the provenance tests run in a child: one op on one kind of operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from exporters.base import ExportOptions, Selection

IMAGE = (1, 4, 6, 6)


def _weight_norm(x: torch.Tensor) -> torch.Tensor:
    return torch._weight_norm(x, x[:, :1, :1, :1], 0)


def _bicubic(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.interpolate(x, size=(9, 7), mode="bicubic")


def _im2col(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.unfold(x, kernel_size=(3, 1), padding=(1, 0))


OPS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "aten::_weight_norm_interface": _weight_norm,
    "aten::upsample_bicubic2d": _bicubic,
    "aten::im2col": _im2col,
}


class OneOp(torch.nn.Module):
    """One op on a parameter, a buffer, an input, or on input x parameter."""

    def __init__(self, op: str, operand: str) -> None:
        super().__init__()
        self.op, self.operand = OPS[op], operand
        self.parameter = torch.nn.Parameter(torch.rand(IMAGE))
        self.register_buffer("buffer", torch.rand(IMAGE))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        operands = {
            "input": x,
            "parameter": self.parameter,
            "buffer": self.buffer,
            "input x parameter": x * self.parameter,
        }
        return self.op(operands[self.operand]) + x.sum()


def trace(payload: dict[str, Any], report: Callable[[str], None]) -> list[str]:
    from exporters.neuron import xla

    report("export")
    options = ExportOptions(
        patches=Selection.parse("off"),
        lowerings=Selection.parse(payload["lowerings"]),
        guard=payload["guard"],
    )
    model = OneOp(payload["op"], payload["operand"]).eval()
    return [str(read) for read in xla.trace(model, {"x": torch.rand(IMAGE)}, options).baked_reads]
