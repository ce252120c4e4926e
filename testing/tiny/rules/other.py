"""Inputs of time series, tables, graphs and trajectories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from testing.inputs.domains import Domain
from testing.tiny.forward import Forward

__all__ = ["RULES"]

RULES: Final[Mapping[str, Callable[[Forward], Domain | None]]] = {}
