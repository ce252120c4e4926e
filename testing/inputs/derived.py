"""Inputs that are made of others, set by set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from testing.subject import Inputs

__all__ = ["DerivedInputs"]


class DerivedInputs(ABC):
    """As many sets as `inputs` has, each made of one of them; which leaves and axes is its own.

    `Inputs` says what the attributes and methods are.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self.batch_size = inputs.batch_size
        self.families = tuple(inputs.families)

    @abstractmethod
    def _derived(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """A set of its own from one of the others'."""

    def traced(self) -> dict[str, Any]:
        """Keyword inputs of the trace."""
        return self._derived(self._inputs.traced())

    def fresh(
        self,
        family: str,
        batch_size: int | None = None,
        lengths: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        """Keyword inputs of one family, at other sizes where they are given."""
        return self._derived(self._inputs.fresh(family, batch_size, lengths))
