"""Whether models still need a trace patch: they are exported without it, in children."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TypeAlias

from exporters import BACKENDS, get_backend
from exporters.base import Backend, BackendUnavailableError, PatchFacts
from testing.audit.auditing import Execute
from testing.audit.journal import FILE_NAME, AttemptJournal, Key, digest_of
from testing.audit.planning import requests_of
from testing.audit.settings import AuditSettings
from testing.audit.tiny_host import TinyHost
from testing.audit.verdicts import Attempt, AuditedCase, CaseState
from testing.cases import ExportCase
from testing.coverage.declared import DEFAULT_TESTS
from testing.devices import most_workers
from testing.parallel import run_all
from testing.patches.applicable import models_of
from testing.patches.inspecting import Inspection
from testing.registry import Registry
from testing.registry.audits import DEFAULT_AUDITS
from testing.results import CaseResult
from testing.settings import CaseRequest
from testing.shards import Shard

__all__ = [
    "Inspect",
    "PatchRequest",
    "PatchVerdict",
    "PatchedModel",
    "audit_patches",
    "chosen",
    "unused",
]

Inspect = Callable[[str, str, str, "str | None", float], Inspection]
"""Applies a patch in a child: backend, patch, model class, runtime, limit in seconds."""


class PatchVerdict(str, Enum):
    """Whether one model needs a patch."""

    NOT_NEEDED = "not needed"
    SUPERSEDED = "superseded"
    FLAKY = "flaky"
    TARGET_MISSING = "target missing"
    NOT_RUN = "not run"
    NEEDED = "needed"

    @property
    def is_finding(self) -> bool:
        """Whether somebody has to look at the patch, whatever is true of other models."""
        return self in (PatchVerdict.FLAKY, PatchVerdict.TARGET_MISSING)


@dataclass(frozen=True)
class PatchedModel:
    """What was found of one patch and one model.

    Attributes:
        backend: Name of the backend.
        patch: Name of the patch.
        model_class: The model.
        verdict: Whether it needs the patch.
        message: What was seen.
        inspection: What the patch does to it.
    """

    backend: str
    patch: str
    model_class: str
    verdict: PatchVerdict
    message: str
    inspection: Inspection

    @property
    def is_finding(self) -> bool:
        """Whether somebody has to look at the patch."""
        return self.verdict.is_finding or not self.inspection.is_inert


@dataclass(frozen=True)
class PatchRequest:
    """What is asked.

    Attributes:
        patches: Names of patches; all where there are none.
        model_classes: Model classes; all that a patch may be for where there are none.
        shard: The share of the classes that is meant.
        settings: How cases are run; their choice of patches is left aside.
        directory: Where the journal of runs is.
        workers: How many run at a time; one a core by default.
        is_fresh: Whether runs that the journal has are done again.
    """

    patches: tuple[str, ...] = ()
    model_classes: tuple[str, ...] = ()
    shard: Shard | None = None
    settings: AuditSettings = field(default_factory=lambda: AuditSettings(lowering_guard=False))
    directory: Path = DEFAULT_AUDITS
    workers: int | None = None
    is_fresh: bool = False


@dataclass(frozen=True)
class _Pair:
    backend: str
    patch: str
    model_class: str


_Cases: TypeAlias = Mapping[_Pair, AuditedCase]


def chosen(request: PatchRequest) -> Iterator[tuple[Backend, PatchFacts, tuple[str, ...]]]:
    """Each patch that is meant, with the model classes that are meant."""
    for backend in map(get_backend, BACKENDS):
        for patch in backend.patches():
            if not request.patches or patch.name in request.patches:
                yield backend, patch, tuple(filter(partial(_is_meant, request), models_of(patch)))


def audit_patches(
    request: PatchRequest, inspect: Inspect, execute: Execute
) -> tuple[PatchedModel, ...]:
    """What is true of each patch and each model that it applies to; others are left out.

    Args:
        request: What is asked.
        inspect: Applies a patch to a tiny model in a child.
        execute: Runs one case in a child.
    """
    workers = request.workers or most_workers(request.settings.run)
    pairs = [_Pair(b.name, p.name, name) for b, p, names in chosen(request) for name in names]
    inspected = partial(_inspected, inspect, request.settings)
    inspections = dict(run_all(pairs, workers, lambda: nullcontext(inspected)))
    bare, lowered = _cases(request, [p for p in pairs if inspections[p].applied], execute)
    judged = (_judged(p, inspections[p], bare.get(p), lowered.get(p)) for p in pairs)
    return tuple(found for found in judged if found is not None)


def _cases(
    request: PatchRequest, pairs: Iterable[_Pair], execute: Execute
) -> tuple[_Cases, _Cases]:
    """Each pair's case without the patch: without lowerings, and with them where that failed."""
    run = partial(_run, request, Registry.load(), execute)
    bare = run(pairs, replace(request.settings, lowerings="off"))
    has_lowerings = request.settings.lowerings != "off"
    failing = [pair for pair, case in bare.items() if case.state is CaseState.FAILS]
    return bare, run(failing, request.settings) if has_lowerings else {}


def _run(
    request: PatchRequest,
    registry: Registry,
    execute: Execute,
    pairs: Iterable[_Pair],
    settings: AuditSettings,
) -> _Cases:
    """The case of each pair that something here can run, with its runs."""
    requests = {pair: _requests(pair, settings, registry) for pair in pairs}
    results = _results(request, [one for found in requests.values() for one in found], execute)
    return {pair: _case(found, results) for pair, found in requests.items() if found}


def unused(request: PatchRequest, found: Iterable[PatchedModel]) -> tuple[str, ...]:
    """The patches that no model needs of those that were asked about.

    A patch of any model may meet some that need none: the part that it changes is there, and
    their forward does not use it.
    """
    verdicts: dict[str, set[PatchVerdict]] = {}
    for one in found:
        verdicts.setdefault(one.patch, set()).add(one.verdict)
    is_whole = not (request.model_classes or request.shard)
    names = [patch.name for _, patch, _ in chosen(request)]
    return tuple(name for name in names if _is_idle(verdicts.get(name, set()), is_whole))


def _is_idle(verdicts: set[PatchVerdict], is_whole: bool) -> bool:
    """Whether a patch does nothing for any model; where none was found, all must be known."""
    proven = verdicts - {PatchVerdict.NOT_RUN}
    if not proven:
        return is_whole and not verdicts
    return proven <= {PatchVerdict.NOT_NEEDED, PatchVerdict.SUPERSEDED}


def _is_meant(request: PatchRequest, model_class: str) -> bool:
    is_named = not request.model_classes or model_class in request.model_classes
    return is_named and (request.shard is None or request.shard.holds(model_class))


def _inspected(inspect: Inspect, settings: AuditSettings, pair: _Pair) -> Inspection:
    runtime = _runtime(get_backend(pair.backend), settings)
    return inspect(pair.backend, pair.patch, pair.model_class, runtime, settings.time_limit)


def _runtime(backend: Backend, settings: AuditSettings) -> str | None:
    """What would run its cases; None where nothing would."""
    try:
        return backend.resolve_runtime(settings.runtime_of(backend.name))
    except BackendUnavailableError:
        return None


def _requests(pair: _Pair, settings: AuditSettings, registry: Registry) -> tuple[CaseRequest, ...]:
    """The static case without the one patch; `dynamic` is traced no other way."""
    backend = get_backend(pair.backend)
    others = [patch.name for patch in backend.patches() if patch.name != pair.patch]
    without = replace(settings, trace_patches=",".join(others) or "off")
    runtime = _runtime(backend, settings)
    if backend.runtimes and runtime is None:
        return ()
    variant = next(v for v in backend.variants if not (v.dynamic or v.generate))
    case = replace(ExportCase.of(pair.model_class, None, backend, variant), runtime=runtime)
    return tuple(requests_of(case, [TinyHost], without, registry, None))


def _results(
    request: PatchRequest, wanted: Sequence[CaseRequest], execute: Execute
) -> Mapping[str, CaseResult]:
    """The results by `digest_of` their requests: those of the journal, and those that it lacks."""
    journal = AttemptJournal(request.directory / FILE_NAME, Key.here(DEFAULT_TESTS))
    results = {} if request.is_fresh else journal.read()
    missing = [one for one in wanted if digest_of(one) not in results]
    workers = request.workers or most_workers(request.settings.run)
    for asked, result in run_all(missing, workers, lambda: nullcontext(execute)):
        journal.append(asked, result)
        results[digest_of(asked)] = result
    return results


def _case(requests: Sequence[CaseRequest], results: Mapping[str, CaseResult]) -> AuditedCase:
    attempts = tuple(Attempt(one.seed, results.get(digest_of(one))) for one in requests)
    return AuditedCase(requests[0].case, attempts)


def _judged(
    pair: _Pair,
    inspection: Inspection,
    bare: AuditedCase | None,
    lowered: AuditedCase | None,
) -> PatchedModel | None:
    """What was found of a pair; None where the patch has nothing to do in this model.

    Args:
        pair: The patch and the model.
        inspection: What the patch does to it.
        bare: Its case without the patch and without lowerings; None where nothing can run it.
        lowered: With lowerings in place of the patch; None where that was not asked.
    """
    make = partial(PatchedModel, pair.backend, pair.patch, pair.model_class)
    if inspection.error:
        return make(PatchVerdict.NOT_RUN, inspection.error, inspection)
    if not inspection.applied:
        told = "; ".join(inspection.problems)
        return make(PatchVerdict.TARGET_MISSING, told, inspection) if told else None
    if bare is None:
        return make(PatchVerdict.NOT_RUN, f"{pair.backend} is not installed", inspection)
    if lowered is not None and lowered.state is CaseState.PASSES:
        told = f"{bare.told}\n{_replacement(lowered)}"
        return make(PatchVerdict.SUPERSEDED, told, inspection)
    return make(_VERDICTS.get(bare.state, PatchVerdict.NOT_RUN), bare.told, inspection)


def _replacement(case: AuditedCase) -> str:
    """Which lowerings do what the patch does."""
    found = [a.result.lowerings for a in case.attempts if a.result is not None]
    names = dict.fromkeys(name for names in found for name in names)
    return f"with lowerings {case.told}: {', '.join(names) or 'none is named'}"


_VERDICTS = {
    CaseState.PASSES: PatchVerdict.NOT_NEEDED,
    CaseState.FAILS: PatchVerdict.NEEDED,
    CaseState.FLAKY: PatchVerdict.FLAKY,
}
