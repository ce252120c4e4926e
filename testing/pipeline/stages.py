"""One case from preparation to comparison: prepare, eager, export, run, compare."""

from __future__ import annotations

import resource
import time
import unittest
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
import torch

from exporters import get_backend
from exporters.base import (
    Backend,
    BackendUnavailableError,
    ExportedModel,
    ExportOptions,
    Selection,
    WeightsInlinedError,
)
from exporters.batching import run_in_chunks
from exporters.tree import tensor_leaves
from testing.comparison import Comparison, compare, worst
from testing.comparison.masks import MaskedLeaves, comparison_masks, find_masked_leaves
from testing.faults import describe_error, model_files, readable, source_of
from testing.pipeline.prepare import normalise
from testing.pipeline.trials import Kind, Run, Trial, changed_leaves, other_weights, plan, run_once
from testing.pipeline.verdict import judge, judge_trial
from testing.registry.entries import Tolerance
from testing.results import CHANGED_FLAG, CaseResult, Outcome
from testing.seeds import SEED, set_seed
from testing.settings import CaseRequest
from testing.subject import Subject
from testing.versions import versions_of

__all__ = ["STAGES", "run"]

STAGES: Final = ("prepare", "eager", "export", "run", "compare")
"""The stages of a case, in order."""

_SKIPS: Final = (unittest.SkipTest, pytest.skip.Exception, BackendUnavailableError)
# pytest.fail's exception is no Exception, and a model's test may well raise it.
_FAULTS: Final = (Exception, pytest.fail.Exception)
# What is left of a difference is then rounding of the last bits.
_EXACT: Final = Tolerance(atol=0.0, rtol=0.0)


class _CaseEndedError(Exception):
    """A stage has decided the outcome, and no later stage has anything to add."""

    def __init__(self, outcome: Outcome, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message


class _Stages:
    """Tells and times the stages of one case."""

    def __init__(self, on_stage: Callable[[str], None]) -> None:
        self._on_stage = on_stage
        self._started = time.monotonic()
        self.current: str | None = None
        self.seconds: dict[str, float] = {}

    def begin(self, stage: str) -> None:
        self.end()
        self.current, self._started = stage, time.monotonic()
        self._on_stage(stage)

    def end(self) -> None:
        if self.current is not None:
            self.seconds[self.current] = round(time.monotonic() - self._started, 4)


@dataclass
class _Case:
    """What the stages of one case share.

    Attributes:
        request: What was asked.
        result: What is known so far.
        stages: The clock.
        files: Files that define the model, to find its line in a traceback.
        changed_flags: What of the model is not as transformers has it; every result says so.
        trial: The trial that runs, None between them.
    """

    request: CaseRequest
    result: CaseResult
    stages: _Stages
    files: set[str]
    changed_flags: tuple[str, ...] = ()
    trial: Trial | None = None

    def run(self, call: Callable[[dict[str, Any]], Any], trial: Trial) -> Run:
        """Run a trial; one that raises stays the current one, for the message."""
        self.trial = trial
        found = run_once(call, trial.inputs, trial.seed)
        self.trial = None
        return found

    def end(self, outcome: Outcome, message: str, found: Comparison | None = None) -> NoReturn:
        """End the case with the figures of `found`."""
        self.result.metrics = found.metrics if found else {}
        raise _CaseEndedError(outcome, message)


@dataclass
class _Reference:
    """What eager returned, trial by trial.

    Attributes:
        runs: Trials with eager's run of each.
        masked: Output leaves of which masked positions are not compared.
        noise: How much eager differs under another seed, in words.
        twin: The model with the weights of the last trial; None where there is no such trial.
        notes: What a reader must know.
    """

    runs: list[tuple[Trial, Run]]
    masked: MaskedLeaves
    noise: str | None
    twin: torch.nn.Module | None = None
    notes: list[str] = field(default_factory=list)


def run(
    request: CaseRequest,
    prepare: Callable[[], Subject],
    on_stage: Callable[[str], None],
    backend: Backend | None = None,
) -> CaseResult:
    """Run one case and say how it ended.

    Whatever a model, its test or a backend raises becomes a result with stage, message and
    source line; ``KeyboardInterrupt`` and ``SystemExit`` pass through. A backend that cannot run
    here, and a test that skips itself, give ``skipped``; a toolkit whose interface does not match
    is ``failed``, with a message that starts with ``BackendIncompatibleError``.

    Args:
        request: The case and the run's options.
        prepare: Builds the subject.
        on_stage: Called with each name of `STAGES` as that stage begins.
        backend: The backend; by default the one that the case names.
    """
    result = CaseResult.of(request.case, request.case_id, Outcome.PASSED)
    case = _Case(request, result, _Stages(on_stage), {request.path})
    try:
        backend = backend or get_backend(request.case.backend)
        _run_stages(case, prepare, backend)
    except _CaseEndedError as ended:
        result.outcome, result.message = ended.outcome, ended.message
    except _SKIPS as skip:
        result.outcome, result.reason = Outcome.SKIPPED, readable(str(skip))
    except _FAULTS as error:
        _record_fault(case, error)
    _record_run(case, backend)
    return result


def _run_stages(case: _Case, prepare: Callable[[], Subject], backend: Backend) -> None:
    case.stages.begin("prepare")
    subject = normalise(prepare())
    case.files |= model_files(subject.model)
    case.changed_flags = subject.exceptions
    trials = plan(subject.inputs, case.request.case.dynamic)

    case.stages.begin("eager")
    reference = _run_eager(case, subject, trials)
    if case.request.case.dynamic and backend.chunks_batch:
        _require_independent_samples(case, subject, reference)

    case.stages.begin("export")
    exported = _export(case, subject, backend)
    if not exported.runnable:
        case.end(Outcome.EXPORTED, "Compiled; nothing here can run it.")

    case.stages.begin("run")
    outputs = _run_exported(case, exported, reference)

    case.stages.begin("compare")
    _judge(case, subject, reference, outputs, exported)


def _call(model: torch.nn.Module) -> Callable[[dict[str, Any]], Any]:
    return lambda inputs: model(**inputs)


def _run_eager(case: _Case, subject: Subject, trials: list[Trial]) -> _Reference:
    """Run eager on every trial, twice on the first."""
    call = _call(subject.model)
    runs = [(trial, case.run(call, trial)) for trial in trials if trial.kind is not Kind.WEIGHTS]
    traced, first = runs[0]
    if not tensor_leaves(first.output):
        case.end(Outcome.FAILED, "Eager's output holds no tensor, so nothing can be compared.")
    _require_agreement(case, first, case.run(call, traced))
    masked = find_masked_leaves(
        first.output, traced.inputs, subject.inputs, lambda i: run_once(call, i, SEED).output
    )
    reference = _Reference(runs, masked, _noise(first, runs[1][1]))
    reference.notes += [f"Note: {masked.note}."] if masked.note else []
    if not subject.is_trained:
        _add_other_weights(reference, subject.model, trials[-1])
    return reference


def _require_agreement(case: _Case, first: Run, second: Run) -> None:
    """Eager must agree with itself, or nothing can be said of a backend."""
    if not changed_leaves(first.output, second.output):
        return
    found = compare(first.output, second.output, case.request.tolerance)
    if not found.passed:
        told = "Eager disagrees with itself under the same seed, so no backend is to blame"
        case.end(Outcome.FAILED, f"{told}: {'; '.join(found.failures)}.", found)


def _noise(first: Run, reseeded: Run) -> str | None:
    """Says whether eager draws random numbers: another seed then gives other values."""
    if not changed_leaves(first.output, reseeded.output):
        return None
    found = compare(first.output, reseeded.output, _EXACT)
    if found.passed:
        return None
    return f"Eager draws random numbers; under another seed: {'; '.join(found.failures)}."


def _add_other_weights(reference: _Reference, model: torch.nn.Module, trial: Trial) -> None:
    """Add the trial with other weights, if eager tells them from the old ones."""
    try:
        twin = other_weights(model)
        changed = run_once(_call(twin), trial.inputs, trial.seed)
    except Exception as error:
        # A model need not stand other weights, and may hold what cannot be copied.
        reference.notes.append(f"Note: other weights were not tried: {describe_error(error)}.")
        return
    old = next(run for t, run in reference.runs if t.differs_in_weights_only(trial))
    if not changed_leaves(old.output, changed.output):
        reference.notes.append("Note: other weights change nothing in eager; none were tried.")
    elif _special_values(changed.output) != _special_values(old.output):
        reference.notes.append("Note: other weights change where eager has NaN or infinities.")
    else:
        reference.runs.append((trial, changed))
        reference.twin = twin


def _special_values(output: Any) -> dict[str, int]:
    """How many NaNs and infinities each leaf holds."""
    leaves = tensor_leaves(output).items()
    return {path: leaf.numel() - int(leaf.isfinite().sum()) for path, leaf in leaves}


def _require_independent_samples(case: _Case, subject: Subject, reference: _Reference) -> None:
    """End the case where eager itself, run in chunks of the traced batch, gives something else."""
    sizes = [(trial, whole) for trial, whole in reference.runs if trial.kind is Kind.SIZE]
    for trial, whole in sizes:
        told = f"Eager in chunks of {subject.inputs.batch_size}, {trial.label}"
        chunked = _run_chunked(case, subject, trial, told)
        masks = comparison_masks(whole.output, trial.inputs, reference.masked)
        found = compare(whole.output, chunked.output, case.request.tolerance, masks)
        if not found.passed:
            message = f"{told}, is not eager on the whole: {'; '.join(found.failures)}."
            noise = f"\n{reference.noise}" if reference.noise else ""
            case.end(Outcome.NOT_APPLICABLE, message + noise, found)


def _run_chunked(case: _Case, subject: Subject, trial: Trial, told: str) -> Run:
    def in_chunks(inputs: dict[str, Any]) -> Any:
        return run_in_chunks(_call(subject.model), inputs, subject.inputs.batch_size)

    try:
        return run_once(in_chunks, trial.inputs, trial.seed)
    except Exception as error:
        # Whatever keeps eager from running in chunks shows that chunks cannot stand for a batch.
        case.end(Outcome.NOT_APPLICABLE, f"{told}: {describe_error(error)}")


def _export(case: _Case, subject: Subject, backend: Backend) -> ExportedModel:
    request, result = case.request, case.result
    options = ExportOptions(
        runtime=request.case.runtime or request.case.delegate,
        dynamic=request.case.dynamic,
        patches=Selection.parse(request.settings.trace_patches),
        lowerings=Selection.parse(request.settings.lowerings),
        guard=request.guard,
        workdir=Path(request.workdir) if request.workdir else None,
    )
    set_seed(SEED)
    with torch.no_grad():
        exported = backend.export(subject.model, subject.inputs.traced(), options)
    result.patches, result.lowerings = list(exported.patches), list(exported.lowerings)
    result.baked_reads = [readable(str(read)) for read in exported.baked_reads]
    return exported


def _run_exported(
    case: _Case, exported: ExportedModel, reference: _Reference
) -> list[tuple[Trial, Run, Run]]:
    """Run the exported model on every trial that eager ran."""
    programs = dict.fromkeys(Kind, exported)
    if reference.twin is not None:
        try:
            programs[Kind.WEIGHTS] = exported.with_weights(reference.twin)
        except WeightsInlinedError as error:
            reference.runs.pop()
            told = readable(str(error))
            reference.notes.append(f"Note: weights are inlined, no others were tried: {told}")
    return [
        (trial, eager, case.run(programs[trial.kind], trial)) for trial, eager in reference.runs
    ]


def _judge(
    case: _Case,
    subject: Subject,
    reference: _Reference,
    outputs: list[tuple[Trial, Run, Run]],
    exported: ExportedModel,
) -> None:
    tolerance = case.request.tolerance
    judged = [judge_trial(*output, tolerance, reference.masked) for output in outputs]
    verdict = judge(
        judged,
        noise=reference.noise,
        reads=exported.baked_reads,
        unchanged=subject.inputs.unchanged,
        exactness_reason=case.request.exactness_reason,
        notes=reference.notes,
    )
    case.result.metrics = worst(one.comparison for one in judged)
    case.result.outcome = Outcome.PASSED if verdict.passed else Outcome.FAILED
    case.result.message = verdict.message


def _record_fault(case: _Case, error: BaseException) -> None:
    result = case.result
    where = f"\nOn {case.trial.label}." if case.trial else ""
    result.outcome, result.message = Outcome.FAILED, describe_error(error) + where
    result.source = _text(error, "source") or source_of(error, case.files)
    result.op, result.operand = _text(error, "op"), _text(error, "operand")
    result.op_source = "guard" if result.op else None


def _text(error: BaseException, attribute: str) -> str | None:
    """What a backend's error says of itself; other libraries use the same names for more."""
    value = getattr(error, attribute, None)
    return readable(value) if isinstance(value, str) else None


def _record_run(case: _Case, backend: Backend | None) -> None:
    case.stages.end()
    result = case.result
    result.stage, result.seconds = case.stages.current, case.stages.seconds
    lines = [readable(result.message)] if result.message else []
    lines += [f"{CHANGED_FLAG}{flag}." for flag in case.changed_flags]
    result.message = "\n".join(lines) or None
    result.peak_rss_mb = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    result.versions = versions_of(backend.distributions if backend else ())
