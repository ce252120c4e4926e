"""Backends that export models of transformers, one module or package each.

Nothing here knows of pytest or of skips, and importing this package imports no torch.
"""

from __future__ import annotations

from importlib import import_module
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from exporters.base import Backend
from exporters.entries import BackendEntry, BackendEntryError, declared, load

__all__ = ["BACKENDS", "BROKEN", "OWN", "get_backend", "place_of", "register"]

OWN: Final = {
    "neuron": "exporters.neuron:NeuronBackend",
    "dynamo": "exporters.dynamo:DynamoBackend",
    "onnx": "exporters.onnx:OnnxBackend",
    "openvino": "exporters.openvino:OpenVinoBackend",
    "executorch": "exporters.executorch:ExecutorchBackend",
}
"""The backends here, of which ``skips.py`` speaks whichever others there are."""

BACKENDS: dict[str, str]
"""Each backend's name and where its class is: those here, those of entry points, registered ones.

Entry points are read when it is first asked for.
"""

BROKEN: dict[str, BackendEntryError]
"""Backends of entry points that cannot be used, by name, and why; the others do without them."""

_backends: Final = dict(OWN)
_broken: Final[dict[str, BackendEntryError]] = {}
# Emptied before what it gives is imported, since that may ask for the backends in turn.
_unread: Final = [declared]


def get_backend(name: str) -> Backend:
    """The backend called `name`.

    Raises:
        BackendEntryError: An entry point declares it, and it cannot be used.
        KeyError: No such backend; the message lists those that exist.
    """
    backends = _discovered()
    if name not in backends:
        if name in _broken:
            raise _broken[name]
        raise KeyError(f"no backend is called {name!r}; there are: {', '.join(backends)}")
    module, _, attribute = backends[name].partition(":")
    backend: Backend = getattr(import_module(module), attribute)()
    return backend


def register(name: str, backend: str | type[Backend]) -> None:
    """Add a backend of another package, as an entry point does; before tests are collected.

    Args:
        name: Its name, which is also what its class says.
        backend: The class, which stands at the top of a module that can be imported, or its
            place: ``package.module:Class``.

    Raises:
        BackendEntryError: The name is taken, or the class is not as a backend must be.
    """
    place = backend if isinstance(backend, str) else place_of(backend)
    _add(BackendEntry(name, place, "exporters.register"))


def place_of(backend: type[Backend]) -> str:
    """Where the class of a backend is, ``package.module:Class``."""
    return f"{backend.__module__}:{backend.__qualname__}"


def _add(entry: BackendEntry) -> None:
    backends = _discovered()
    # A module that registers its own backend may be imported twice.
    if backends.get(entry.name) == entry.place:
        return
    if entry.name in backends:
        raise entry.error(f"there is one of that name, {backends[entry.name]}")
    load(entry, {name: get_backend(name) for name in backends})
    backends[entry.name] = entry.place


def _discovered() -> dict[str, str]:
    """The backends, those that entry points declare among them."""
    while _unread:
        for name, entries in groupby(_unread.pop()(), key=attrgetter("name")):
            try:
                _add(_only(list(entries)))
            except BackendEntryError as error:
                _broken[name] = error
    return _backends


def _only(entries: list[BackendEntry]) -> BackendEntry:
    """The one that declares a name; of several none is taken, since chance would choose."""
    first, *others = entries
    if others:
        raise first.error(f"{others[0].source} has one of that name too: remove one of them")
    return first


def __getattr__(name: str) -> Any:
    if name == "BACKENDS":
        return _discovered()
    if name == "BROKEN":
        _discovered()
        return _broken
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
