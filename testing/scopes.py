"""Scopes: sets of facets that say which cases an entry of ``skips.py`` is about."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from types import MappingProxyType

from exporters import BACKENDS, OWN, get_backend
from exporters.entries import runtimes_of
from testing.cases import ExportCase

__all__ = [
    "ALL",
    "Scope",
    "ScopeConflictError",
    "ScopeError",
    "ScopeOrderError",
    "UnknownScopeError",
    "scopes_of",
    "vocabulary",
]

_GROUPS = ("backend", "runtime", "mode", "cache", "shape", "exactness")

_FIXED_FACETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mode": ("forward", "generate"),
        "cache": ("static-cache", "growing-cache"),
        "shape": ("static", "dynamic"),
        "exactness": ("exactness",),
    }
)


class ScopeError(ValueError):
    """A text that is no scope."""


class UnknownScopeError(ScopeError):
    """A facet that no backend and no rule knows; the message names the nearest."""

    def __init__(self, text: str, facet: str) -> None:
        close = difflib.get_close_matches(facet.strip().lower(), sorted(vocabulary()), n=1)
        self.nearest = close[0] if close else None
        hint = f"; did you mean {self.nearest!r}?" if close else f"; known: {_known()}"
        # ascii() shows what cannot be seen: a zero-width space, a Cyrillic letter.
        super().__init__(f"unknown facet {facet!a} in scope {text!a}{hint}")


class ScopeOrderError(ScopeError):
    """The facets of a scope, in an order that is not the canonical one."""

    def __init__(self, text: str, canonical: str) -> None:
        super().__init__(f"scope {text!r} is written {canonical!r}")
        self.canonical = canonical


class ScopeConflictError(ScopeError):
    """Two facets that no case can have together."""

    def __init__(self, text: str, first: str, second: str) -> None:
        super().__init__(f"scope {text!r} applies to no case: {first!r} excludes {second!r}")


@dataclass(frozen=True)
class Scope:
    """A set of facets, at most one of each kind; the empty set is ``all``.

    Attributes:
        backend: Name of a backend.
        runtime: A runtime or delegate, with or without its backend.
        mode: ``forward`` or ``generate``.
        cache: ``static-cache`` or ``growing-cache``; both are of generation only.
        shape: ``static`` or ``dynamic``.
        exactness: ``exactness`` where the comparison's figures are meant and not the case.
    """

    backend: str | None = None
    runtime: str | None = None
    mode: str | None = None
    cache: str | None = None
    shape: str | None = None
    exactness: str | None = None

    @classmethod
    def parse(cls, text: str) -> Scope:
        """Read ``all`` or facets joined by dots in canonical order.

        Raises:
            UnknownScopeError: A facet is not known.
            ScopeConflictError: No case can have all the facets.
            ScopeOrderError: The order is not the canonical one; it is in the message.
        """
        if text == "all":
            return ALL
        groups: dict[str, str] = {}
        for facet in text.split("."):
            group = vocabulary().get(facet)
            if group is None:
                raise UnknownScopeError(text, facet)
            if group in groups:
                raise ScopeConflictError(text, groups[group], facet)
            groups[group] = facet
        scope = cls(**groups)
        scope._check(text)
        return scope

    @classmethod
    def of(cls, case: ExportCase) -> Scope:
        """The narrowest scope that applies to `case`."""
        cache_facet = "static-cache" if case.static_cache else "growing-cache"
        return cls(
            backend=case.backend,
            runtime=case.runtime or case.delegate,
            mode="generate" if case.generate else "forward",
            cache=cache_facet if case.generate else None,
            shape=case.variant,
        )

    @property
    def ordered(self) -> tuple[str, ...]:
        """The facets in canonical order."""
        facets = (getattr(self, group) for group in _GROUPS)
        return tuple(facet for facet in facets if facet is not None)

    @property
    def facets(self) -> frozenset[str]:
        """The facets as a set."""
        return frozenset(self.ordered)

    @property
    def is_exactness(self) -> bool:
        """Whether it concerns the comparison's figures; such a scope never skips a case."""
        return self.exactness is not None

    @property
    def without_exactness(self) -> Scope:
        """The same cases, as a scope that skips."""
        return Scope(self.backend, self.runtime, self.mode, self.cache, self.shape)

    def applies_to(self, case: ExportCase) -> bool:
        """Whether every facet holds for `case`; ``exactness`` holds for every case."""
        return self.without_exactness <= Scope.of(case)

    def covers(self, other: Scope) -> bool:
        """Whether every case of `other` is a case of this scope, with the same effect.

        Unlike `<=`, it knows what a facet implies: ``neuron`` covers ``xla``.
        """
        same_effect = self.is_exactness == other.is_exactness
        return same_effect and self.facets <= other.facets | _implied(other)

    def meets(self, other: Scope) -> bool:
        """Whether some case is one of both scopes; what either does with it is left aside."""
        groups = [group for group in _GROUPS[:-1] if getattr(self, group) or getattr(other, group)]
        facets = {
            group: {getattr(self, group), getattr(other, group)} - {None} for group in groups
        }
        if any(len(found) > 1 for found in facets.values()):
            return False
        both = Scope(**{group: found.pop() for group, found in facets.items()})
        try:
            both._check(str(both))
        except ScopeConflictError:
            return False
        return True

    def __le__(self, other: Scope) -> bool:
        """Whether this scope is as broad as `other` or broader: a subset of its facets."""
        return self.facets <= other.facets

    def __lt__(self, other: Scope) -> bool:
        """Whether this scope is broader than `other`: a proper subset of its facets."""
        return self.facets < other.facets

    def __str__(self) -> str:
        return ".".join(self.ordered) or "all"

    def _check(self, text: str) -> None:
        if self.mode == "forward" and self.cache:
            raise ScopeConflictError(text, self.mode, self.cache)
        owners = _owners(self.runtime) if self.runtime else frozenset()
        if self.backend and self.runtime and self.backend not in owners:
            raise ScopeConflictError(text, self.backend, self.runtime)
        if text != str(self):
            raise ScopeOrderError(text, str(self))


ALL = Scope()


def scopes_of(case: ExportCase, *, exactness: bool = False) -> tuple[Scope, ...]:
    """Every scope that applies to `case`, from broad to narrow.

    Args:
        case: The case, its runtime resolved; an open runtime matches no runtime facet.
        exactness: List the scopes of the comparison's figures instead of those that skip.
    """
    narrowest = Scope.of(case)
    return _subsets(narrowest, exactness)


def vocabulary() -> Mapping[str, str]:
    """Every facet, and its kind: ``backend``, ``runtime``, ``mode``, ``cache``, ``shape``, …."""
    return _vocabulary(tuple(BACKENDS.items()))


@cache
def _subsets(narrowest: Scope, exactness: bool) -> tuple[Scope, ...]:
    groups = [group for group in _GROUPS if getattr(narrowest, group) is not None]
    last = {"exactness": "exactness"} if exactness else {}
    return tuple(
        Scope(**{group: getattr(narrowest, group) for group in chosen}, **last)
        for size in range(len(groups) + 1)
        for chosen in combinations(groups, size)
    )


@cache
def _vocabulary(backends: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    table = {name: "backend" for name in (*OWN, *_runtimes(backends))}
    table |= {name: "runtime" for names in _runtimes(backends).values() for name in names}
    table |= {facet: group for group, facets in _FIXED_FACETS.items() for facet in facets}
    return MappingProxyType(table)


@cache
def _runtimes(backends: tuple[tuple[str, str], ...]) -> Mapping[str, tuple[str, ...]]:
    """Each backend and its runtimes and delegates, as it declares them."""
    return MappingProxyType({n: tuple(runtimes_of(get_backend(n))) for n, _ in backends})


def _owners(runtime: str) -> frozenset[str]:
    """The backends that have this runtime or delegate."""
    runtimes = _runtimes(tuple(BACKENDS.items()))
    return frozenset(name for name, names in runtimes.items() if runtime in names)


def _implied(scope: Scope) -> frozenset[str]:
    """Facets that every case of the scope has beside those that are written."""
    owners = _owners(scope.runtime) if scope.runtime else frozenset()
    implied = owners if len(owners) == 1 else frozenset()
    return implied | {"generate"} if scope.cache else implied


def _known() -> str:
    return ", ".join(["all", *vocabulary()])
