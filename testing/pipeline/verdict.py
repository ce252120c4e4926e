"""From the runs of both sides to one verdict and the sentences that explain it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from exporters.base import BakedRead
from exporters.tree import leaves
from testing.comparison import Comparison, compare
from testing.comparison.masks import MaskedLeaves, comparison_masks
from testing.pipeline.frozen import Refusal, frozen_axes
from testing.pipeline.trials import Kind, Run, Trial
from testing.registry.entries import Tolerance
from testing.results import PROVES_NOTHING

__all__ = ["Judged", "Verdict", "judge", "judge_trial"]

_TRIALS_TOLD: Final = 3
_SENTENCES_TOLD: Final = 4


@dataclass(frozen=True, eq=False)
class Judged:
    """One trial with what both sides returned and how they compare."""

    trial: Trial
    eager: Run
    exported: Run
    comparison: Comparison


@dataclass(frozen=True)
class Verdict:
    """Whether a case passed, and why."""

    passed: bool
    message: str | None


def judge_trial(
    trial: Trial, eager: Run, exported: Run, tolerance: Tolerance, masked: MaskedLeaves
) -> Judged:
    """Compare both sides of one trial; what its inputs' mask leaves out is not compared."""
    masks = comparison_masks(eager.output, trial.inputs, masked)
    sources = leaves(trial.inputs)
    found = compare(eager.output, exported.output, tolerance, masks, sources)
    return Judged(trial, eager, exported, found)


def judge(
    judged: Sequence[Judged],
    noise: str | None,
    reads: Sequence[BakedRead],
    unchanged: Mapping[str, str],
    exactness_reason: str | None,
    notes: Iterable[str] = (),
    refused: Sequence[Refusal] = (),
    traced_sizes: Mapping[str, int] = MappingProxyType({}),
) -> Verdict:
    """The verdict over all trials of a case.

    Args:
        judged: The trials.
        noise: How much eager differs under another seed, when it draws random numbers.
        reads: Values that the trace read from inputs.
        unchanged: Input leaves that are the same in every set, each with why.
        exactness_reason: Set where figures are recorded and cannot fail the case.
        notes: What else a reader must know.
        refused: Other sizes that the program does not take.
        traced_sizes: Axes that are declared dynamic, each with its size in the trace.
    """
    failing = [one for one in judged if _failures(one, exactness_reason)]
    lines = [
        *_headlines(judged, failing, noise, reads),
        *_frozen(judged, failing, refused, traced_sizes),
        *_told(_distinct(failing), exactness_reason),
        *(f"On {one.trial.label}: {one.error}" for one in refused[:_TRIALS_TOLD]),
        *_remarks(judged, unchanged),
        *_excused(judged, exactness_reason),
        *notes,
    ]
    return Verdict(not failing and not refused, "\n".join(dict.fromkeys(lines)) or None)


def _failures(one: Judged, exactness_reason: str | None) -> tuple[str, ...]:
    found = one.comparison
    return found.structural if exactness_reason else found.failures


def _headlines(
    judged: Sequence[Judged],
    failing: Sequence[Judged],
    noise: str | None,
    reads: Sequence[BakedRead],
) -> list[str]:
    """What the pattern of failing trials says about the cause."""
    kinds = {one.trial.kind for one in failing}
    lines = []
    if noise:
        lines.append(noise)
        if Kind.REPEATED in kinds and _repeats(judged):
            lines.append("The exported program repeats its noise: it is frozen into the program.")
    elif kinds == {Kind.REPEATED}:
        lines.append("The exported program disagrees with itself on a second call.")
    if Kind.FRESH in kinds and Kind.TRACED not in kinds:
        lines.append(_baked(reads))
    chunked = any(one.trial.kind is Kind.SIZE and not one.trial.sizes for one in failing)
    if chunked and Kind.FRESH not in kinds:
        lines.append(_batch_dependent(failing))
    if kinds == {Kind.WEIGHTS}:
        lines.append(_stale(judged))
    return lines


def _frozen(
    judged: Sequence[Judged],
    failing: Sequence[Judged],
    refused: Sequence[Refusal],
    traced_sizes: Mapping[str, int],
) -> Iterator[str]:
    """What failures at other sizes say, where sizes of the trace do not fail."""
    wrong = [one.trial for one in failing if one.trial.sizes]
    wrong += [one.trial for one in refused]
    if wrong and all(one.trial.sizes or one.trial.kind is Kind.WEIGHTS for one in failing):
        passing = [o.trial for o in judged if o.trial.sizes and o not in failing]
        yield from frozen_axes(wrong, passing, traced_sizes)


def _repeats(judged: Sequence[Judged]) -> bool:
    first, second = (_of(judged, kind).exported for kind in (Kind.TRACED, Kind.REPEATED))
    return compare(first.output, second.output, Tolerance(0.0, 0.0)).passed


def _of(judged: Sequence[Judged], kind: Kind) -> Judged:
    return next(one for one in judged if one.trial.kind is kind)


def _baked(reads: Sequence[BakedRead]) -> str:
    told = "Agrees with eager on the traced inputs and not on fresh ones"
    if not reads:
        return f"{told}."
    return f"{told}: a value was baked in while tracing, by {'; '.join(map(str, reads))}."


def _batch_dependent(failing: Sequence[Judged]) -> str:
    sizes = [one.trial.batch_size for one in failing if one.trial.kind is Kind.SIZE]
    named = ", ".join(map(str, sizes))
    return f"Depends on the batch size: right at the traced one, wrong at {named}."


def _stale(judged: Sequence[Judged]) -> str:
    """Tell weights that were not taken over from weights that were taken over wrongly."""
    last = _of(judged, Kind.WEIGHTS)
    old = next(one for one in judged if one.trial.differs_in_weights_only(last.trial))
    if compare(old.exported.output, last.exported.output, Tolerance(0.0, 0.0)).passed:
        return "Stale weights: given other weights, the program returns what it did with the old."
    return "Right with the weights of the trace and wrong with other weights."


def _distinct(failing: Sequence[Judged]) -> list[Judged]:
    """The failing trials less a second call that fails as the first one did."""
    first = next((one for one in failing if one.trial.kind is Kind.TRACED), None)
    return [
        one
        for one in failing
        if first is None
        or one.trial.kind is not Kind.REPEATED
        or one.comparison.failures != first.comparison.failures
    ]


def _told(failing: Sequence[Judged], exactness_reason: str | None) -> list[str]:
    lines = []
    for one in failing[:_TRIALS_TOLD]:
        sentences = _failures(one, exactness_reason)
        lines += [f"On {one.trial.label}: {text}." for text in sentences[:_SENTENCES_TOLD]]
        if len(sentences) > _SENTENCES_TOLD:
            lines.append(f"On {one.trial.label}: {len(sentences) - _SENTENCES_TOLD} more.")
    if len(failing) > _TRIALS_TOLD:
        rest = ", ".join(one.trial.label for one in failing[_TRIALS_TOLD:])
        lines.append(f"Fails too on {rest}.")
    return lines


def _remarks(judged: Sequence[Judged], unchanged: Mapping[str, str]) -> list[str]:
    lines = []
    if all(one.comparison.proves_nothing for one in judged):
        lines.append(f"{PROVES_NOTHING}every leaf of eager is near-constant or empty.")
    lines += [f"Note: {note}." for one in judged for note in one.comparison.notes]
    lines += [line for one in judged for line in _one_sided_mutations(one)]
    if unchanged:
        told = ", ".join(f"`{leaf}` ({why})" for leaf, why in unchanged.items())
        lines.append(f"Note: the same in all inputs: {told}.")
    return lines


def _one_sided_mutations(one: Judged) -> list[str]:
    sides = {"eager": one.eager.mutated, "the exported program": one.exported.mutated}
    lines = []
    for (side, ours), (_, theirs) in zip(sides.items(), reversed(sides.items()), strict=True):
        only = [leaf for leaf in ours if leaf not in theirs]
        if only:
            lines.append(f"Note: only {side} changes its inputs: {', '.join(only)}.")
    return lines


def _excused(judged: Sequence[Judged], exactness_reason: str | None) -> list[str]:
    if not exactness_reason:
        return []
    figures = [f"{o.trial.label}: {text}" for o in judged for text in o.comparison.numeric]
    return [f"Figures cannot fail it ({exactness_reason}).", *figures[:_SENTENCES_TOLD]]
