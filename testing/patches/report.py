"""Patches as a person reads them, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from exporters.base import Backend, PatchFacts
from testing.patches.auditing import PatchedModel, PatchVerdict

__all__ = ["audited", "audited_json", "by_verdict", "listed", "listed_json", "seen", "totals"]

_Listed = Iterable[tuple[Backend, PatchFacts, tuple[str, ...]]]


def listed(patches: _Listed) -> str:
    """Each patch, what it does, and the models that it may be for."""
    return "\n".join(line for backend, patch, names in patches for line in _patch(patch, names))


def listed_json(patches: _Listed) -> list[dict[str, Any]]:
    """As JSON carries it."""
    return [
        {
            "backend": backend.name,
            "patch": patch.name,
            "summary": patch.summary,
            "issue": patch.issue,
            "model_types": list(patch.model_types),
            "model_classes": list(names),
        }
        for backend, patch, names in patches
    ]


def audited(found: Sequence[PatchedModel], unused: Sequence[str] = ()) -> str:
    """A line for each model, what asks for an edit first, and totals.

    Args:
        found: What was found of each patch and model.
        unused: Patches that no model needs.
    """
    idle = [f"{name}: no model needs it" for name in unused]
    lines = [line for one in by_verdict(found) for line in _model(one)]
    return "\n".join([*idle, *lines, totals(found)])


def by_verdict(found: Iterable[PatchedModel]) -> list[PatchedModel]:
    """What asks for an edit first."""
    order = list(PatchVerdict)
    return sorted(found, key=lambda one: (not one.is_finding, order.index(one.verdict)))


def totals(found: Sequence[PatchedModel]) -> str:
    """``3 needed, 1 superseded; none not inert``."""
    counts = Counter(one.verdict for one in found)
    told = ", ".join(f"{counts[one]} {one.value}" for one in PatchVerdict if counts[one])
    changing = sum(not one.inspection.is_inert for one in found)
    return f"{told or 'no model'}; {changing or 'none'} not inert"


def seen(one: PatchedModel) -> Iterator[str]:
    """What was seen of a patch and a model, line by line."""
    yield from one.message.splitlines()
    if one.inspection.max_abs is not None:
        told = "inert" if one.inspection.is_inert else "changes what the model computes"
        yield f"{told}: patched against unpatched {one.inspection.max_abs:g}"
    yield from one.inspection.differences


def audited_json(found: Iterable[PatchedModel]) -> list[dict[str, Any]]:
    """As JSON carries it."""
    return [
        {**asdict(one), "verdict": one.verdict.value, "inert": one.inspection.is_inert}
        for one in found
    ]


def _patch(patch: PatchFacts, names: Sequence[str]) -> Iterator[str]:
    yield f"{patch.name}: {patch.summary} ({patch.issue})"
    where = "" if patch.model_types else ", and models that hold one of them"
    yield f"    {', '.join(names) or 'no model class of the installed transformers'}{where}"


def _model(one: PatchedModel) -> Iterator[str]:
    yield f"{one.patch} {one.model_class}: {one.verdict.value}"
    yield from (f"    {line}" for line in seen(one))
