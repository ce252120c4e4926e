"""Outputs of eager and of an exported model, held against each other."""

from __future__ import annotations

from testing.comparison.outputs import Comparison, compare, worst

__all__ = ["Comparison", "compare", "worst"]
