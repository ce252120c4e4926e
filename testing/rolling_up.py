"""The row of a case that sums up those of its components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from testing.results import PROVES_NOTHING, CaseResult, Outcome

__all__ = ["rolled_up"]

_FROM_WORST: Final = (
    Outcome.CRASHED,
    Outcome.TIMEOUT,
    Outcome.FAILED,
    Outcome.XPASSED,
    Outcome.PASSED,
    Outcome.XFAILED,
    Outcome.EXPORTED,
    Outcome.SKIPPED,
    Outcome.NOT_APPLICABLE,
)


def rolled_up(whole: CaseResult, components: Sequence[CaseResult]) -> CaseResult:
    """The result of a case from those of its components.

    It has the worst outcome. It passes only where at least one component passed and none met a
    limit of its runtime; what did not run beside that is told in its message.

    Args:
        whole: What is known of the case itself: its preparation.
        components: Its components in their order; not empty.
    """
    decisive = min(components, key=_rank)
    return replace(
        whole,
        outcome=decisive.outcome,
        stage=decisive.stage,
        signal=decisive.signal,
        exit_code=decisive.exit_code,
        op=decisive.op,
        operand=decisive.operand,
        op_source=decisive.op_source,
        source=decisive.source,
        stack=decisive.stack,
        scope=decisive.scope,
        reason=decisive.reason,
        message=_message(whole, components),
        patches=_union(part.patches for part in components),
        lowerings=_union(part.lowerings for part in components),
        baked_reads=_union(part.baked_reads for part in components),
        metrics={},
        seconds=_seconds([whole, *components]),
        peak_rss_mb=max((p.peak_rss_mb or 0.0 for p in components), default=0.0) or None,
        components=list(components),
    )


def _rank(part: CaseResult) -> tuple[int, bool]:
    """The lower, the more it decides; a limit does more than a pass and less than a failure."""
    outcome = Outcome.PASSED if part.is_runtime_limit else part.outcome
    return _FROM_WORST.index(outcome), not part.is_runtime_limit


def _message(whole: CaseResult, components: Sequence[CaseResult]) -> str:
    """What every failure says, what became of each component, and what the case itself says."""
    failures = (part for part in components if part.outcome.is_failure)
    told = ", ".join(f"{part.component} {part.outcome.words}" for part in components)
    lines = [
        *(f"In {part.component}: {part.message or 'no message'}" for part in failures),
        f"Components: {told}.",
        *([whole.message] if whole.message else []),
        *_proving_nothing(components),
    ]
    return "\n".join(lines)


def _proving_nothing(components: Sequence[CaseResult]) -> Iterator[str]:
    """What every pass says, where all have nothing to show."""
    passed = [part for part in components if part.outcome is Outcome.PASSED]
    if passed and all(PROVES_NOTHING in (part.message or "") for part in passed):
        yield f"{PROVES_NOTHING}in every component every leaf of eager is near-constant or empty."


def _union(lists: Iterable[list[str]]) -> list[str]:
    return list(dict.fromkeys(name for names in lists for name in names))


def _seconds(results: Sequence[CaseResult]) -> dict[str, float]:
    """Seconds by stage, of all together."""
    spent: dict[str, float] = {}
    for result in results:
        for stage, seconds in result.seconds.items():
            spent[stage] = round(spent.get(stage, 0.0) + seconds, 4)
    return spent
