"""Inputs of a model, drawn from what each leaf may hold; imported in the child only."""

from __future__ import annotations

from testing.inputs.sampled import SampledInputs

__all__ = ["SampledInputs"]
