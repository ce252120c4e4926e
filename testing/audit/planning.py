"""Which cases an entry skips here, under which tests and seeds, and which cannot be run."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from exporters import BACKENDS, get_backend
from exporters.base import (
    Backend,
    BackendIncompatibleError,
    BackendUnavailableError,
    Variant,
)
from testing import auto_classes
from testing.audit.settings import AuditSettings
from testing.audit.tiny_host import TinyHost
from testing.auto_classes import TransformersMissingError
from testing.cases import ExportCase, variants_of
from testing.mixin import ExportTesterMixin, waiver_of
from testing.model_classes import declared_classes, unknown_class
from testing.registry import Entry, Registry
from testing.registry.skip_file import ONNX_DISABLE_OPTIMIZE, TOLERANCES
from testing.session import TestMethod
from testing.settings import CaseRequest
from testing.terms import component_terms

__all__ = ["Plan", "Planner", "requests_of"]


@dataclass(frozen=True)
class Plan:
    """What an audit of one entry runs.

    Attributes:
        entry: The entry.
        requests: For each case a request for each seed and test class.
        obstacles: Why other cases of the entry cannot be run here, by what they are called.
    """

    entry: Entry
    requests: Mapping[ExportCase, tuple[CaseRequest, ...]] = field(default_factory=dict)
    obstacles: Mapping[str, str] = field(default_factory=dict)


class Planner:
    """Plans entries of one file."""

    def __init__(
        self,
        registry: Registry,
        settings: AuditSettings,
        hosts: Callable[[str], tuple[type, ...]] = lambda name: (),
    ) -> None:
        """Take what all entries share.

        Args:
            registry: The file.
            settings: How cases are run.
            hosts: Gives the test classes that export a model class.
        """
        self._registry = registry
        self._settings = settings
        self._hosts = hosts

    def plan(self, entry: Entry) -> Plan:
        """The plan of one entry."""
        obstacle = self._obstacle(entry)
        if obstacle:
            return Plan(entry, obstacles={"": obstacle})
        requests: dict[ExportCase, tuple[CaseRequest, ...]] = {}
        obstacles: dict[str, str] = {}
        for backend in map(get_backend, BACKENDS):
            try:
                cases = list(self._cases(entry, backend))
            except (BackendUnavailableError, BackendIncompatibleError) as error:
                if entry.scope.backend in (None, backend.name):
                    obstacles[backend.name] = str(error)
            else:
                self._add(entry, cases, requests, obstacles)
        if not requests and not obstacles:
            obstacles[""] = self._elsewhere(entry)
        return Plan(entry, requests, obstacles)

    def _add(
        self,
        entry: Entry,
        cases: list[ExportCase],
        requests: dict[ExportCase, tuple[CaseRequest, ...]],
        obstacles: dict[str, str],
    ) -> None:
        hosts = self._hosts(entry.model_class)
        willing = [host for host in hosts or (TinyHost,) if waiver_of(host) is None]
        for case in cases:
            skip = self._registry.skip_for(case) if entry.is_of_figures else None
            if not willing:
                obstacles[_name(case)] = waiver_of(hosts[0]) or ""
            elif skip:
                obstacles[_name(case)] = f"line {skip.line} skips it"
            else:
                requests[case] = tuple(self._requests(entry, case, willing))

    def _obstacle(self, entry: Entry) -> str | None:
        """Why no case of an entry can be run here, whatever the backend."""
        if not self._registry.holds(entry):
            return f"`when` does not hold here: {entry.value.when}"
        if self._is_held(entry.model_class):
            return None
        try:
            return unknown_class(entry.model_class)
        except TransformersMissingError as error:
            return str(error)

    def _is_held(self, model_class: str) -> bool:
        """Whether a test class holds a model class itself, which need not be transformers'."""
        hosts = self._hosts(model_class)
        is_own = any(host.subject is not ExportTesterMixin.subject for host in hosts)  # type: ignore[attr-defined]
        named = (model for host in hosts for model in declared_classes(host))
        return is_own or any(m.type is not None for m in named if m.name == model_class)

    def _cases(self, entry: Entry, backend: Backend) -> Iterator[ExportCase]:
        """The cases of an entry that a backend has here."""
        runtime = backend.resolve_runtime(self._settings.runtime_of(backend.name))
        for variant in variants_of(backend, entry.model_class):
            case = ExportCase.of(entry.model_class, _type_of(entry), backend, variant)
            case = dataclasses.replace(case, runtime=runtime)
            is_meant = entry.scope.applies_to(case) and _is_meant(entry, backend, variant)
            if is_meant and _can_run(variant, backend):
                yield case

    def _requests(
        self, entry: Entry, case: ExportCase, hosts: Sequence[type]
    ) -> Iterator[CaseRequest]:
        # What the entry itself excuses is what is asked; other entries keep their effect.
        excuse = None if entry.is_of_figures else self._registry.exactness_for(case)
        reason = excuse.reason if excuse else None
        others = Registry(e for e in self._registry.entries if e is not entry)
        tolerances = Registry() if entry.table == TOLERANCES else self._registry
        optimizer = others.optimizer_off_for(case)
        for request in requests_of(case, hosts, self._settings, tolerances, reason):
            yield dataclasses.replace(
                request,
                optimizer_off=optimizer.reason if optimizer else None,
                components=component_terms(others, case, run_skipped=True),
            )

    def _elsewhere(self, entry: Entry) -> str:
        """Why the installed backends have no case of an entry."""
        scope = entry.scope
        if scope.backend and scope.backend not in BACKENDS:
            return f"backend {scope.backend} is not installed"
        if scope.runtime:
            return f"{scope.runtime} does not run here"
        return f"no backend that is installed has a case of {scope}"


def requests_of(
    case: ExportCase,
    hosts: Iterable[type],
    settings: AuditSettings,
    registry: Registry,
    exactness_reason: str | None,
) -> Iterator[CaseRequest]:
    """A request for each seed and test class.

    Args:
        case: The case, its runtime resolved.
        hosts: The test classes.
        settings: How it is run, and how often.
        registry: Where tolerances are.
        exactness_reason: Set where figures cannot fail it.
    """
    backend = get_backend(case.backend)
    default = backend.tolerance(case.runtime or case.delegate)
    for host in hosts:
        test = _test_method(host, case, backend)
        for seed in range(settings.repeat):
            yield CaseRequest(
                case=case,
                case_id=f"{test.module}::{test.test_class}::{test.test_method}",
                **dataclasses.asdict(test),
                tolerance=registry.tolerance_for(case, default),
                settings=settings.run,
                exactness_reason=exactness_reason,
                timeout=settings.time_limit,
                guard=settings.lowering_guard,
                seed=seed,
            )


def _test_method(host: type, case: ExportCase, backend: Backend) -> TestMethod:
    is_tiny = host is TinyHost
    method = "runTest" if is_tiny else case.test_name(backend.test_prefix)
    return TestMethod(host.__module__, inspect.getfile(host), host.__qualname__, method)


def _is_meant(entry: Entry, backend: Backend, variant: Variant) -> bool:
    """Whether a case can have what the entry is about: ONNX's optimizer, or components."""
    if entry.table == ONNX_DISABLE_OPTIMIZE and backend.name != "onnx":
        return False
    return entry.value.component is None or backend.decomposes or variant.generate


def _can_run(variant: Variant, backend: Backend) -> bool:
    """Whether a variant is one that models are judged by, and its delegate can be had here."""
    try:
        backend.require_delegate(variant.delegate)
        if variant.generate:
            backend.require_generation()
    except BackendUnavailableError:
        return False
    return backend.not_applicable(variant) is None


def _name(case: ExportCase) -> str:
    return f"{case.backend} {case.variant}"


def _type_of(entry: Entry) -> str | None:
    try:
        return auto_classes.model_type_of(entry.model_class)
    except TransformersMissingError:
        return None
