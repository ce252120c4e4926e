"""A program that one of transformers' exporters has made, in its runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exporters.base import ExportedModel, WeightsInlinedError
from exporters.hf.inputs import HfInputs

if TYPE_CHECKING:
    import torch

__all__ = ["HfModel"]


class HfModel(ExportedModel):
    """What one of transformers' exporters has exported, run by transformers' own runner.

    Attributes:
        exported: transformers' ``ExportedModel`` of one component, loaded into its runtime.
        traced: The inputs of the trace, which make those of each run.
    """

    def __init__(self, exported: Any, traced: HfInputs) -> None:
        self.exported = exported
        self.traced = traced
        self.baked_reads = traced.baked_reads

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        """Run on keyword inputs; each run gets copies, since programs may write into them.

        Raises:
            InputMismatchError: The inputs are not those that the program takes.
        """
        return self.run(self.traced.for_run(inputs))

    def run(self, inputs: dict[str, Any]) -> Any:
        """Run on inputs as transformers prepares them."""
        return self.runner(**inputs)

    @property
    def runner(self) -> Any:
        """The runner of the component, which is of transformers."""
        (runner,) = self.exported.runners.values()
        return runner

    def with_weights(self, model: torch.nn.Module) -> ExportedModel:
        """Not possible: the program holds its weights.

        Raises:
            WeightsInlinedError: Always.
        """
        raise WeightsInlinedError(f"a program of {self.exported.export_format} holds its weights")
