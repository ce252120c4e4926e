"""One part through its stages: eager, export, run, compare."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import torch

from exporters.base import (
    Backend,
    BackendIncompatibleError,
    BackendUnavailableError,
    ExportedModel,
    ExportOptions,
    RuntimeLimitError,
    Selection,
    WeightsInlinedError,
)
from testing.comparison import worst
from testing.faults import describe_error, model_files, readable
from testing.pipeline.eager import (
    Reference,
    add_other_sizes,
    add_other_weights,
    require_independent_samples,
    run_eager,
)
from testing.pipeline.frozen import Refusal
from testing.pipeline.part_run import PartRun
from testing.pipeline.trials import Kind, Run, Trial, plan
from testing.pipeline.verdict import judge, judge_trial
from testing.results import Outcome
from testing.seeds import SEED, set_seed
from testing.subject import Subject

__all__ = ["run_stages"]

# They say nothing of a size.
_OF_THE_WHOLE: Final = (BackendUnavailableError, BackendIncompatibleError)


@dataclass
class _Ran:
    """What came of running a program trial by trial.

    Attributes:
        outputs: The trials that ran, with eager's run and the program's.
        refused: Other sizes that the program does not take.
        limits: What the runtime could not run, each with how messages call the trial.
    """

    outputs: list[tuple[Trial, Run, Run]] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    limits: list[tuple[str, RuntimeLimitError]] = field(default_factory=list)


def run_stages(part: PartRun, subject: Subject, backend: Backend) -> None:
    """Take a part from its prepared subject to the verdict in its result."""
    with backend.caches_as_traced():
        _run_stages(part, subject, backend)


def _run_stages(part: PartRun, subject: Subject, backend: Backend) -> None:
    dynamic = part.request.case.dynamic
    part.files |= model_files(subject.model)
    trials = plan(subject.inputs, dynamic and backend.chunks_batch)

    part.clock.begin("eager")
    reference = run_eager(part, subject, trials)
    if dynamic and backend.chunks_batch:
        require_independent_samples(part, subject, reference)
    elif dynamic:
        add_other_sizes(reference, subject)
    if not subject.is_trained:
        add_other_weights(reference, subject.model, trials[-1])

    part.clock.begin("export")
    part.exported = exported = _export(part, subject, backend)
    if not exported.runnable:
        part.end(Outcome.EXPORTED, "Compiled; nothing here can run it.")

    part.clock.begin("run")
    ran = _run_exported(part, exported, reference)

    part.clock.begin("compare")
    _judge(part, subject, reference, ran, exported)


def _export(part: PartRun, subject: Subject, backend: Backend) -> ExportedModel:
    request, result = part.request, part.result
    options = ExportOptions(
        runtime=request.case.runtime or request.case.delegate,
        dynamic=request.case.dynamic,
        patches=Selection.parse(request.settings.trace_patches),
        lowerings=Selection.parse(request.settings.lowerings),
        guard=request.guard,
        optimize=part.terms.optimizer_off is None,
        workdir=Path(request.workdir) if request.workdir else None,
    )
    set_seed(SEED)
    with torch.no_grad():
        exported = backend.export(subject.model, subject.inputs.traced(), options)
    result.patches, result.lowerings = list(exported.patches), list(exported.lowerings)
    result.baked_reads = [readable(str(read)) for read in exported.baked_reads]
    return exported


def _run_exported(part: PartRun, exported: ExportedModel, reference: Reference) -> _Ran:
    """Run the exported model on every trial that eager ran."""
    programs = _programs(exported, reference)
    ran = _Ran()
    for trial, eager in reference.runs:
        try:
            ran.outputs.append((trial, eager, part.run(programs[trial.kind], trial)))
        except _OF_THE_WHOLE:
            raise
        except RuntimeLimitError as limit:
            if not ran.outputs:
                raise
            # What did run may be wrong, which no limit excuses.
            ran.limits.append((trial.label, limit))
        except Exception as error:
            if not trial.sizes:
                raise
            # Every size is tried, since which of them are refused tells the axis that is frozen.
            ran.refused.append(Refusal(trial, describe_error(error)))
        part.trial = None
    return ran


def _programs(exported: ExportedModel, reference: Reference) -> dict[Kind, ExportedModel]:
    """The program of each kind of trial; `reference` loses a trial that no program can run."""
    programs = dict.fromkeys(Kind, exported)
    if reference.twin is not None:
        try:
            programs[Kind.WEIGHTS] = exported.with_weights(reference.twin)
        except WeightsInlinedError as error:
            reference.runs.pop()
            told = readable(str(error))
            reference.notes.append(f"Note: weights are inlined, no others were tried: {told}")
    return programs


def _judge(
    part: PartRun,
    subject: Subject,
    reference: Reference,
    ran: _Ran,
    exported: ExportedModel,
) -> None:
    tolerance = part.terms.tolerance
    judged = [judge_trial(*output, tolerance, reference.masked) for output in ran.outputs]
    verdict = judge(
        judged,
        noise=reference.noise,
        reads=exported.baked_reads,
        unchanged=subject.inputs.unchanged,
        exactness_reason=part.terms.exactness_reason,
        refused=ran.refused,
        traced_sizes=reference.traced_sizes,
        notes=[*reference.notes, *_notes(part, ran), *(f"Note: {n}." for n in exported.notes)],
    )
    part.result.metrics = worst(one.comparison for one in judged)
    part.result.outcome = Outcome.PASSED if verdict.passed else Outcome.FAILED
    part.result.message = verdict.message
    part.failed_at = "run" if ran.refused else None
    if verdict.passed and ran.limits:
        part.failed_at = "run"
        raise ran.limits[0][1]


def _notes(part: PartRun, ran: _Ran) -> list[str]:
    off = part.terms.optimizer_off
    optimizer = [f"Note: the backend's optimizer is off: {off}."] if off else []
    return [*optimizer, *(f"Note: not run on {label}: {limit}." for label, limit in ran.limits)]
