"""What eager PyTorch gives: the reference of every comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import torch

from exporters.batching import run_in_chunks
from exporters.tree import tensor_leaves
from testing.comparison import compare
from testing.comparison.masks import MaskedLeaves, comparison_masks, find_masked_leaves
from testing.faults import describe_error
from testing.pipeline.part_run import PartRun
from testing.pipeline.sizes import sized
from testing.pipeline.trials import Kind, Run, Trial, changed_leaves, other_weights, run_once
from testing.registry.entries import Tolerance
from testing.results import Outcome
from testing.seeds import SEED
from testing.subject import Subject

__all__ = [
    "Reference",
    "add_other_sizes",
    "add_other_weights",
    "require_independent_samples",
    "run_eager",
]

# What is left of a difference is then rounding of the last bits.
_EXACT: Final = Tolerance(atol=0.0, rtol=0.0)


@dataclass
class Reference:
    """What eager returned, trial by trial.

    Attributes:
        runs: Trials with eager's run of each.
        masked: Output leaves of which masked positions are not compared.
        noise: How much eager differs under another seed, in words.
        twin: The model with the weights of the last trial; None where there is no such trial.
        notes: What a reader must know.
        traced_sizes: Axes that are declared dynamic, each with its size in the trace.
    """

    runs: list[tuple[Trial, Run]]
    masked: MaskedLeaves
    noise: str | None
    twin: torch.nn.Module | None = None
    notes: list[str] = field(default_factory=list)
    traced_sizes: Mapping[str, int] = field(default_factory=dict)


def run_eager(part: PartRun, subject: Subject, trials: list[Trial]) -> Reference:
    """Run eager on every trial, twice on the first."""
    call = _call(subject.model)
    runs = [(trial, part.run(call, trial)) for trial in trials if trial.kind is not Kind.WEIGHTS]
    traced, first = runs[0]
    if not tensor_leaves(first.output):
        part.end(Outcome.FAILED, "Eager's output holds no tensor, so nothing can be compared.")
    _require_agreement(part, first, part.run(call, traced))
    masked = find_masked_leaves(
        first.output, traced.inputs, subject.inputs, lambda i: run_once(call, i, SEED).output
    )
    masked = replace(masked, read_positions=subject.read_positions)
    reference = Reference(runs, masked, _noise(first, runs[1][1]))
    reference.notes += [f"Note: {masked.note}."] if masked.note else []
    return reference


def add_other_sizes(reference: Reference, subject: Subject) -> None:
    """Add trials at other sizes of each axis, as far as eager takes them."""
    call = _call(subject.model)
    found = sized(subject.inputs, lambda trial: run_once(call, trial.inputs, trial.seed))
    reference.runs += found.runs
    reference.traced_sizes = found.traced
    reference.notes += found.notes


def add_other_weights(reference: Reference, model: torch.nn.Module, trial: Trial) -> None:
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


def require_independent_samples(part: PartRun, subject: Subject, reference: Reference) -> None:
    """End the part where eager itself, run in chunks of the traced batch, gives something else."""
    sizes = [(trial, whole) for trial, whole in reference.runs if trial.kind is Kind.SIZE]
    for trial, whole in sizes:
        told = f"Eager in chunks of {subject.inputs.batch_size}, {trial.label}"
        chunked = _run_chunked(part, subject, trial, told)
        masks = comparison_masks(whole.output, trial.inputs, reference.masked)
        found = compare(whole.output, chunked.output, part.terms.tolerance, masks)
        if not found.passed:
            message = f"{told}, is not eager on the whole: {'; '.join(found.failures)}."
            noise = f"\n{reference.noise}" if reference.noise else ""
            part.end(Outcome.NOT_APPLICABLE, message + noise, found)


def _call(model: torch.nn.Module) -> Callable[[dict[str, Any]], Any]:
    return lambda inputs: model(**inputs)


def _require_agreement(part: PartRun, first: Run, second: Run) -> None:
    """Eager must agree with itself, or nothing can be said of a backend."""
    if not changed_leaves(first.output, second.output):
        return
    found = compare(first.output, second.output, part.terms.tolerance)
    if not found.passed:
        told = "Eager disagrees with itself under the same seed, so no backend is to blame"
        part.end(Outcome.FAILED, f"{told}: {'; '.join(found.failures)}.", found)


def _noise(first: Run, reseeded: Run) -> str | None:
    """Says whether eager draws random numbers: another seed then gives other values."""
    if not changed_leaves(first.output, reseeded.output):
        return None
    found = compare(first.output, reseeded.output, _EXACT)
    if found.passed:
        return None
    return f"Eager draws random numbers; under another seed: {'; '.join(found.failures)}."


def _special_values(output: Any) -> dict[str, int]:
    """How many NaNs and infinities each leaf holds."""
    leaves = tensor_leaves(output).items()
    return {path: leaf.numel() - int(leaf.isfinite().sum()) for path, leaf in leaves}


def _run_chunked(part: PartRun, subject: Subject, trial: Trial, told: str) -> Run:
    def in_chunks(inputs: dict[str, Any]) -> Any:
        return run_in_chunks(_call(subject.model), inputs, subject.inputs.batch_size)

    try:
        return run_once(in_chunks, trial.inputs, trial.seed)
    except Exception as error:
        # Whatever keeps eager from running in chunks shows that chunks cannot stand for a batch.
        part.end(Outcome.NOT_APPLICABLE, f"{told}: {describe_error(error)}")
