"""Backends of other packages: where they are declared, and what must be right about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from typing import Final

from exporters.base import Backend, ExportError, Variant

__all__ = [
    "GROUP",
    "RESERVED",
    "BackendEntry",
    "BackendEntryError",
    "declared",
    "load",
    "runtimes_of",
]

GROUP: Final = "export_harness.backends"
"""The group of entry points in which a distribution declares its backends."""

RESERVED: Final = frozenset(
    {
        "all",
        "auto",
        "collection",
        "dynamic",
        "exactness",
        "forward",
        "generate",
        "growing-cache",
        "static",
        "static-cache",
    }
)
"""Words that scopes, options and results have for something else."""

_NAME: Final = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
_PREFIX: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


class BackendEntryError(ExportError):
    """A backend of another package cannot be used; the message says whose it is and why."""


@dataclass(frozen=True)
class BackendEntry:
    """A backend as it is declared.

    Attributes:
        name: What it is to be called.
        place: ``package.module:Class``.
        source: Who declares it, such as ``distribution torchscript-backend 1.0``.
    """

    name: str
    place: str
    source: str

    def error(self, problem: str) -> BackendEntryError:
        """What is wrong with it."""
        return BackendEntryError(
            f"backend {self.name!r} of {self.source} ({self.place}): {problem}"
        )


def declared() -> tuple[BackendEntry, ...]:
    """The backends that installed distributions declare, by name; nothing is imported."""
    found = (_entry(point) for point in entry_points(group=GROUP))
    return tuple(sorted(dict.fromkeys(found), key=attrgetter("name", "source")))


def load(entry: BackendEntry, others: Mapping[str, Backend]) -> Backend:
    """The backend of an entry, once all that others rely on is right.

    Args:
        entry: Where it is.
        others: The backends beside which it is to stand, by name.

    Raises:
        BackendEntryError: It cannot be imported, or is not as a backend must be.
    """
    cls = _class_at(entry)
    for problem in _problems(entry, cls, others):
        raise entry.error(problem)
    return _made(entry, cls)


def _entry(point: EntryPoint) -> BackendEntry:
    made_by = point.dist
    source = f"distribution {made_by.name} {made_by.version}" if made_by else "no distribution"
    return BackendEntry(point.name, point.value.replace(" ", ""), source)


def _class_at(entry: BackendEntry) -> type[Backend]:
    module, _, attribute = entry.place.partition(":")
    if not attribute.isidentifier():
        raise entry.error("it is declared as 'package.module:Class'")
    try:
        found = getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:
        # Whatever another package's module does, it must not end the run of the others.
        raise entry.error(f"{type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Backend)):
        raise entry.error("it is no subclass of exporters.base.Backend")
    return found


def _made(entry: BackendEntry, cls: type[Backend]) -> Backend:
    try:
        return cls()
    except (Exception, SystemExit) as error:
        raise entry.error(f"{type(error).__name__}: {error}") from error


def _problems(
    entry: BackendEntry, cls: type[Backend], others: Mapping[str, Backend]
) -> Iterator[str]:
    yield from _abstract(cls)
    yield from _names(entry, cls, others)
    yield from _variants(cls)


def _abstract(cls: type[Backend]) -> Iterator[str]:
    missing = ", ".join(sorted(getattr(cls, "__abstractmethods__", ())))
    if missing:
        yield f"it does not define {missing}"


def _names(
    entry: BackendEntry, cls: type[Backend], others: Mapping[str, Backend]
) -> Iterator[str]:
    name, prefix = getattr(cls, "name", None), getattr(cls, "test_prefix", None)
    if name != entry.name:
        yield f"its class calls itself {name!r}"
    if not _NAME.fullmatch(entry.name) or entry.name in RESERVED:
        yield "a backend's name is a lower-case word that scopes have for nothing else"
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        yield f"test_prefix {prefix!r} is no lower-case word with which a test's name can begin"
    for other in others.values():
        if other.test_prefix == prefix:
            yield f"test_prefix {prefix!r} is that of the backend {other.name!r}"
        if entry.name in runtimes_of(other):
            yield f"a runtime or delegate of the backend {other.name!r} is called so"
    for word in runtimes_of(cls):
        if word in RESERVED or word in others or word == entry.name:
            yield f"its runtime {word!r} is called like a backend, or as scopes call a thing"


def runtimes_of(backend: Backend | type[Backend]) -> list[str]:
    """Its runtimes and the delegates of its variants, which are facets of scopes alike."""
    variants = getattr(backend, "variants", ())
    delegates = (getattr(variant, "delegate", None) for variant in variants)
    named = [delegate for delegate in delegates if delegate]
    return list(dict.fromkeys([*getattr(backend, "runtimes", ()), *named]))


def _variants(cls: type[Backend]) -> Iterator[str]:
    variants = getattr(cls, "variants", ())
    if not variants or not all(isinstance(variant, Variant) for variant in variants):
        yield "variants is a tuple of exporters.base.Variant, at least one"
    elif len(set(variants)) < len(variants):
        yield "two of its variants are the same"
