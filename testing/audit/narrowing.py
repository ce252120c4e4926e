"""The narrower scopes that would do for an entry of which only some cases fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from testing.cases import ExportCase
from testing.scopes import Scope

__all__ = ["narrower"]

# What a person would name first; a runtime says the least about the cause.
_FACETS: Final = ("shape", "mode", "cache", "backend", "runtime")


def narrower(
    scope: Scope, failing: Sequence[ExportCase], passing: Sequence[ExportCase]
) -> tuple[Scope, ...]:
    """The broadest scopes within `scope` that have every failing case and no passing one.

    It is one scope where one does. None where a failing case cannot be told from a passing one.
    """
    one = next(_candidates(scope, failing, passing), None)
    if one is not None or len(failing) == 1:
        return (one,) if one is not None else ()
    found: dict[Scope, None] = {}
    for case in failing:
        if any(known.applies_to(case) for known in found):
            continue
        own = narrower(scope, [case], passing)
        if not own:
            return ()
        found |= dict.fromkeys(own)
    return tuple(found)


def _candidates(
    scope: Scope, failing: Sequence[ExportCase], passing: Sequence[ExportCase]
) -> Iterator[Scope]:
    """From broad to narrow."""
    narrowest = [Scope.of(case) for case in failing]
    common = {
        facet: values.pop()
        for facet in _FACETS
        if getattr(scope, facet) is None
        and len(values := {getattr(one, facet) for one in narrowest}) == 1
    }
    named = [facet for facet, value in common.items() if value is not None]
    for size in range(1, len(named) + 1):
        for chosen in combinations(named, size):
            found = replace(scope, **{facet: common[facet] for facet in chosen})
            if not any(found.applies_to(case) for case in passing):
                yield found
