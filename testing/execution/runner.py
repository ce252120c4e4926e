"""Run one case, in a child where it can kill the process, and turn its end into a result."""

from __future__ import annotations

import atexit
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from exporters import BACKENDS, get_backend
from exporters.base import Backend
from testing.execution.endings import result_of, with_op
from testing.execution.stages import listener
from testing.isolation import ForkServer, ModuleSpec, Task
from testing.parallel import worker
from testing.results import CaseResult, Outcome
from testing.settings import CaseRequest

__all__ = [
    "close_servers",
    "environment_of",
    "execute",
    "execute_on",
    "modules_of",
    "preload_of",
    "server_of",
]

_TARGET: Final = "testing.execution.child:main"
# What a case's child would otherwise import for itself, each time anew.
_PRELOAD: Final = (
    "testing.execution.child",
    "testing.execution.warm",
    # torch imports the first at its first forward, and sympy with it, which takes a second.
    "torch.fx.experimental.symbolic_shapes",
    "numpy.random",
    "transformers.testing_utils",
    "testing.inputs",
    "testing.tiny.builder",
)
# By thread, since a server runs one child at a time.
_servers: dict[tuple[int, str, str | None], ForkServer] = {}


def execute(request: CaseRequest) -> CaseResult:
    """Run a case to its result; only Ctrl-C and its like pass through.

    A case that dies with the lowering guard off is run once more with it on, in a new child,
    since the op that killed a process cannot be known from the dead.
    """
    backend = get_backend(request.case.backend)
    if not request.settings.isolates(backend):
        return _in_process(request, backend)
    return execute_on(server_of(backend, request.case.runtime), request)


def execute_on(server: ForkServer, request: CaseRequest) -> CaseResult:
    """Run a case in a child of this server; see `execute`."""
    backend = get_backend(request.case.backend)
    result = _in_child(server, request, backend)
    if result.outcome is Outcome.CRASHED and backend.can_crash and not request.guard:
        return with_op(result, _in_child(server, replace(request, guard=True), backend))
    return result


def close_servers() -> None:
    """End every fork server of this process; one that is needed again is started again."""
    while _servers:
        _servers.popitem()[1].close()


atexit.register(close_servers)


def _in_process(request: CaseRequest, backend: Backend) -> CaseResult:
    os.environ.update(environment_of(backend, request.case.runtime))
    from testing.execution.child import run_case

    with _with_workdir(request) as asked:
        return run_case(asked, listener.get() or (lambda stage: None))


def _in_child(server: ForkServer, request: CaseRequest, backend: Backend) -> CaseResult:
    with _with_workdir(request) as asked:
        task = Task(
            target=_TARGET,
            payload={**asked.to_dict(), "place": BACKENDS[backend.name]},
            timeout=request.timeout,
            memory=request.settings.case_memory,
            modules=modules_of(request),
            threads=worker.get().threads,
        )
        return result_of(server.run(task, listener.get()), request, backend)


@contextmanager
def _with_workdir(request: CaseRequest) -> Iterator[CaseRequest]:
    """The request with a directory that is removed here: a child that dies removes nothing."""
    with tempfile.TemporaryDirectory(prefix="export-", ignore_cleanup_errors=True) as workdir:
        yield replace(request, workdir=workdir)


def server_of(backend: Backend, runtime: str | None) -> ForkServer:
    """The fork server of this thread for a runtime; it starts when it is asked for a child."""
    key = threading.get_ident(), backend.name, runtime
    if key not in _servers:
        _servers[key] = ForkServer(preload_of(backend), environment_of(backend, runtime))
    return _servers[key]


def preload_of(backend: Backend) -> tuple[str, ...]:
    """What a server imports for the cases of a backend."""
    return (*backend.preload, *_PRELOAD)


def modules_of(request: CaseRequest) -> tuple[ModuleSpec, ...]:
    """The model's own module and the test module, imported once for all their cases."""
    from testing.auto_classes import module_of

    modeling = module_of(request.case.model_class)
    test = ModuleSpec(request.module, request.path)
    return (ModuleSpec(modeling), test) if modeling else (test,)


def environment_of(
    backend: Backend, runtime: str | None, current: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """What a runtime needs set; flags are added to those that are there."""
    me = worker.get()
    devices = backend.share_of_devices(runtime, me.index, me.count)
    wanted = {**backend.environment(runtime), **devices}
    for name, value in wanted.items():
        if name.endswith("_FLAGS"):
            present = current.get(name, "").split()
            added = [flag for flag in value.split() if flag not in present]
            wanted[name] = " ".join([*present, *added])
    return wanted
