"""AWS Neuron: traces as ``torch_neuronx.trace`` does, with or without a Neuron device.

Importing this package imports no torch; what needs it is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exporters.neuron.backend import NeuronBackend
from exporters.neuron.errors import UnloweredOpError

if TYPE_CHECKING:
    from exporters.neuron.patches import trace_patches

__all__ = ["NeuronBackend", "UnloweredOpError", "trace_patches"]


def __getattr__(name: str) -> Any:
    if name == "trace_patches":
        from exporters.neuron.patches import trace_patches

        return trace_patches
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
