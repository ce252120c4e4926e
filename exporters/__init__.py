"""Backends that export models of transformers, one module or package each.

Nothing here knows of pytest or of skips, and importing this package imports no torch.
"""

from __future__ import annotations

from importlib import import_module

from exporters.base import Backend

__all__ = ["BACKENDS", "get_backend"]

BACKENDS: dict[str, str] = {
    "neuron": "exporters.neuron:NeuronBackend",
    "dynamo": "exporters.dynamo:DynamoBackend",
    "onnx": "exporters.onnx:OnnxBackend",
    "openvino": "exporters.openvino:OpenVinoBackend",
    "executorch": "exporters.executorch:ExecutorchBackend",
}
"""Each backend's name and where its class is."""


def get_backend(name: str) -> Backend:
    """The backend called `name`.

    Raises:
        KeyError: No such backend; the message lists those that exist.
    """
    if name not in BACKENDS:
        raise KeyError(f"no backend is called {name!r}; there are: {', '.join(BACKENDS)}")
    module, _, attribute = BACKENDS[name].partition(":")
    backend: Backend = getattr(import_module(module), attribute)()
    return backend
