"""Checks one checkpoint in children: before, after, and the patches against none."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from exporters import get_backend
from exporters.base import Backend
from testing.cases import ExportCase
from testing.check.describing import DESCRIBE, PATCH
from testing.check.naming import HOST, MODULE, environment_of
from testing.check.record import Check, Description
from testing.checkpoint import CheckpointError, Source
from testing.execution import runner
from testing.isolation import ChildReport, Ending, ForkServer, ModuleSpec, Task
from testing.patches.inspecting import inspection_of
from testing.registry.entries import Tolerance
from testing.settings import CaseRequest, RunSettings

__all__ = ["CheckRequest", "check"]

_EXACT = "float32"
_WITHOUT, _WITH = "off", "on"


@dataclass(frozen=True)
class CheckRequest:
    """What is asked.

    Attributes:
        source: The checkpoint.
        backend: Name of the backend.
        runtime: ``auto``, or one of its runtimes.
        time_limit: Seconds for each child.
    """

    source: Source
    backend: str = "neuron"
    runtime: str = "auto"
    time_limit: float = 1000.0


def check(request: CheckRequest) -> Check:
    """Everything that a pull request wants to know of a checkpoint.

    Raises:
        CheckpointError: It cannot be loaded.
        BackendUnavailableError: Nothing that is installed can run it.
    """
    request.source.require()
    backend = get_backend(request.backend)
    runtime = backend.resolve_runtime(request.runtime)
    with _server(request.source, backend, runtime) as server:
        modules = (ModuleSpec(MODULE),)
        limit = request.time_limit
        found = _description(
            request.source, server.run(Task(DESCRIBE, {}, limit, modules=modules))
        )
        case = _case_request(request, found, backend, runtime)
        before = runner.execute_on(server, _with(case, _WITHOUT, guard=False))
        after = runner.execute_on(server, _with(case, _WITH, guard=True))
        payload = {"backend": request.backend}
        inspection = inspection_of(server.run(Task(PATCH, payload, limit, modules=modules)))
    return Check(request.source.name, found, before, after, inspection)


@contextmanager
def _server(source: Source, backend: Backend, runtime: str | None) -> Iterator[ForkServer]:
    """A server that loads the checkpoint once, and leaves nothing of it behind."""
    with tempfile.TemporaryDirectory(prefix="check-") as directory:
        environment = {
            **runner.environment_of(backend, runtime),
            **environment_of(source, directory),
        }
        with ForkServer(runner.preload_of(backend), environment) as server:
            yield server


def _description(source: Source, report: ChildReport) -> Description:
    if report.ending is Ending.RESULT:
        return Description(**report.result)
    if report.error is not None and report.error.kind == CheckpointError.__name__:
        raise CheckpointError(report.error.message)
    how = f"{report.error.kind}: {report.error.message}" if report.error else report.ending.value
    raise CheckpointError(f"{source.name} cannot be loaded: {how}")


def _case_request(
    request: CheckRequest, found: Description, backend: Backend, runtime: str | None
) -> CaseRequest:
    spec = importlib.util.find_spec(MODULE)
    assert spec is not None, f"{MODULE} is part of the package"
    assert spec.origin is not None, f"{MODULE} is a file"
    tolerance = backend.tolerance(runtime)
    return CaseRequest(
        case=ExportCase(found.model_class, found.model_type, backend.name, runtime=runtime),
        case_id=request.source.name,
        module=MODULE,
        path=spec.origin,
        test_class=HOST,
        test_method="runTest",
        tolerance=Tolerance(tolerance, tolerance),
        settings=RunSettings(isolate="always"),
        exactness_reason=_excuse(found.dtype),
        timeout=request.time_limit,
    )


def _excuse(dtype: str) -> str | None:
    """Where each op rounds to few digits, another order of ops is another result."""
    return None if dtype == _EXACT else f"{dtype} rounds; --dtype {_EXACT} compares figures"


def _with(request: CaseRequest, parts: str, guard: bool) -> CaseRequest:
    settings = replace(request.settings, trace_patches=parts, lowerings=parts)
    return replace(request, settings=settings, guard=guard)
