"""A program of torch.export that transformers' exporter has made."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from exporters.base import ExportedModel
from exporters.dynamo.weights import with_weights_of
from exporters.hf.program import HfModel

if TYPE_CHECKING:
    import torch

__all__ = ["DynamoModel"]


class DynamoModel(HfModel):
    """An ``ExportedProgram`` as a module, which takes other weights by name."""

    def with_weights(self, model: torch.nn.Module) -> ExportedModel:
        """The same program with the weights of `model`.

        Raises:
            WeightsInlinedError: Its weights do not fit the program.
        """
        twin = copy.copy(self)
        twin.exported = copy.copy(self.exported)
        runner = copy.copy(self.runner)
        runner.module = with_weights_of(runner.module, model)
        twin.exported._runners = {"model": runner}
        return twin
