"""A check as a person reads it, and as the table of a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from testing.check.record import Check
from testing.faults import readable
from testing.reports.tables import aligned, piped
from testing.reports.wording import headline
from testing.results import CaseResult, Outcome

__all__ = ["ended", "markdown", "text"]

_TEXTS = 4
_WHOLE = ("checkpoint", "class", "before", "after", "patched against unpatched (max abs)")
_LEAF = ("output", "cosine", "max abs")


def text(found: Check) -> str:
    """Tables for a terminal, and what surrounds them."""
    blocks = [aligned([_WHOLE, _row(found)])]
    if found.after.metrics:
        blocks.append(aligned([_LEAF, *_leaves(found)]))
    return "\n\n".join([*blocks, "\n".join(_facts(found))]) + "\n"


def markdown(found: Check) -> str:
    """The same for a pull request."""
    blocks = [piped([_WHOLE, _row(found)], _TEXTS)]
    if found.after.metrics:
        blocks.append(piped([_LEAF, *_leaves(found)]))
    facts = "\n".join(f"- {' '.join(fact.split())}" for fact in _facts(found))
    return "\n\n".join([*blocks, facts]) + "\n"


def ended(result: CaseResult) -> str:
    """How a case ended, in a word: ``pass``, the signal that killed it, or its outcome."""
    if result.outcome is Outcome.PASSED:
        return "pass"
    if result.outcome is Outcome.CRASHED:
        return result.signal or f"exit status {result.exit_code}"
    return f"{result.outcome.value} ({result.stage})"


def _row(found: Check) -> tuple[str, ...]:
    name = PurePath(found.checkpoint).name or found.checkpoint
    model = found.description.model_class
    return readable(name), model, ended(found.before), ended(found.after), _patched(found)


def _patched(found: Check) -> str:
    if found.inspection.error:
        return "unknown"
    if found.inspection.max_abs is None:
        return "no patch"
    return f"{found.inspection.max_abs:g}"


def _leaves(found: Check) -> Iterator[tuple[str, ...]]:
    for path, figures in found.after.metrics.items():
        cosine = "none" if figures.cosine is None else f"{figures.cosine:.8f}"
        yield path or "output", cosine, f"{figures.max_abs:.2g}"


def _facts(found: Check) -> Iterator[str]:
    after, what = found.after, found.description
    yield f"inputs: {what.inputs}"
    peak = "" if after.peak_rss_mb is None else f"; peak {_mebibytes(after.peak_rss_mb)}"
    yield f"weights: {_mebibytes(what.weights_mb)}, {what.dtype}{peak}"
    yield f"patches: {', '.join(after.patches) or 'none'}"
    yield f"lowerings: {', '.join(after.lowerings) or 'none'}"
    if after.baked_reads:
        yield f"fixed in the graph: {'; '.join(after.baked_reads)}"
    for name, result in (("before", found.before), ("after", after)):
        if result.outcome is not Outcome.PASSED:
            yield f"{name}: {headline(result)}"
    if after.outcome is Outcome.PASSED:
        yield from (after.message or "").splitlines()
    if found.inspection.error:
        yield f"patched on the CPU: {found.inspection.error}"
    yield from (f"patches change: {text}" for text in found.inspection.differences)
    versions = ", ".join(f"{name} {version}" for name, version in after.versions.items())
    yield f"versions: {versions}"


def _mebibytes(value: float) -> str:
    return f"{round(value, 1 if value >= 1 else 3):g} MiB"
