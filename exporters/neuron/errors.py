"""What the neuron backend refuses; read without importing torch."""

from __future__ import annotations

from exporters.base import ExportError

__all__ = ["UnknownLoweringError", "UnloweredOpError"]


class UnknownLoweringError(ExportError):
    """A selection names a lowering that does not exist."""


class UnloweredOpError(ExportError):
    """An op would have read a tensor that is still a placeholder, and killed the process.

    Attributes:
        op: The op that has no lowering or reads the device, such as ``aten::im2col``.
        operand: Its tensor operands: shape, dtype, and what each is or derives from.
        module: Path of the innermost module that runs it, ``encoder.layer.0.attention``.
        source: ``file.py:line`` of the model's code.
    """

    def __init__(self, op: str, operand: str, module: str | None, source: str | None) -> None:
        where = "".join(
            [f" in module {module}" if module else "", f" at {source}" if source else ""]
        )
        super().__init__(
            f"{op} would read a value that does not exist while tracing{where}: {operand}. "
            "It needs a lowering or a trace patch; on Neuron it kills the process."
        )
        self.op = op
        self.operand = operand
        self.module = module
        self.source = source
