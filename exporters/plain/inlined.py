"""A plain program that a converter has made a program of its own of, with the weights in it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exporters.base import ExportedModel, WeightsInlinedError

if TYPE_CHECKING:
    import torch

    from exporters.plain.program import PlainProgram

__all__ = ["InlinedModel"]


class InlinedModel(ExportedModel):
    """A converted program; a format says how it is run.

    Attributes:
        program: The program that was converted.
    """

    def __init__(self, program: PlainProgram) -> None:
        self.program = program

    @abstractmethod
    def infer(self, arguments: Mapping[str, torch.Tensor]) -> Sequence[torch.Tensor]:
        """The outputs in the order of the layout, for arguments by the names of their leaves."""

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        """Run on keyword inputs."""
        binding = self.program.binding
        arguments = dict(zip(binding.names, binding.flatten(inputs), strict=True))
        return self.program.layout.restore(self.infer(arguments))

    def with_weights(self, model: torch.nn.Module) -> ExportedModel:
        """Not possible: the program holds its weights.

        Raises:
            WeightsInlinedError: Always.
        """
        raise WeightsInlinedError("the converted program holds its weights")
