"""Versions for which ``skips.py`` is kept: what a ``when`` can be about.

Those of the Neuron SDKs 2.27 to 2.31 are from AWS's announcements: 2.27 ends PyTorch 2.6, 2.29
ends 2.7 and 2.8, and 2.9 is the last on PyTorch/XLA. 2.26 came with neuronx-cc 2.21, 2.28 with
2.23 and 2.31 with 2.26. The others are those of the extras in ``pyproject.toml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from itertools import product
from types import MappingProxyType
from typing import Final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from exporters import BACKENDS, get_backend
from testing import released
from testing.registry.conditions import Condition
from testing.registry.spelling import meant

__all__ = ["PYTHONS", "VERSIONS", "impossible_part", "misnamed", "supported_versions"]

PYTHONS: Final = ("3.10", "3.11", "3.12")
"""Of ``requires-python``."""

# transformers' are the committed lists; a distribution that is not here may have any version.
VERSIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "torch": ("==2.7.*", "==2.8.*", "==2.9.*", "==2.13.*"),
        "torch-neuronx": (">=2.7,<2.10",),
        "neuronx-cc": (">=2.22,<2.27",),
        "torch-xla": (">=2.7,<2.10",),
        "optimum": (">=2,<3",),
    }
)
_PLATFORMS: Final = (
    {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"},
    {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix"},
    {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt"},
)
_MACHINES: Final = ("x86_64", "aarch64", "arm64", "AMD64")


def supported_versions(distribution: str) -> tuple[SpecifierSet, ...]:
    """The ranges of a distribution's supported versions; every version where none are declared."""
    name = canonicalize_name(distribution)
    if name == "transformers":
        releases = (Version(text).release for text in released.versions())
        return tuple(SpecifierSet(f"=={major}.{minor}.*") for major, minor, *_ in releases)
    return tuple(map(SpecifierSet, VERSIONS.get(name, (">=0",))))


def impossible_part(condition: Condition) -> str | None:
    """The part of a condition that holds nowhere; None where each part holds somewhere."""
    for name in dict.fromkeys(canonicalize_name(r.name) for r in condition.requirements):
        asked = SpecifierSet()
        for requirement in condition.requirements:
            if canonicalize_name(requirement.name) == name:
                asked &= requirement.specifier
        if not any(_meet(asked, range_) for range_ in supported_versions(name)):
            return f"{name}{asked}"
    marker = condition.marker
    if marker is None or any(marker.evaluate(place) for place in _environments()):
        return None
    return str(marker)


def misnamed(condition: Condition) -> Iterator[tuple[str, str]]:
    """Names in a condition that no distribution has, so that it never holds, each with a remedy.

    A name that the harness does not know may be right all the same: it is told where it is one
    slip away from one that the harness depends on.
    """
    known = _distributions()
    for name in dict.fromkeys(canonicalize_name(r.name) for r in condition.requirements):
        if name == "python":
            yield name, "write it as a marker, `; python_version < '3.12'`"
        elif name not in known and (right := meant(name, known)):
            yield name, f"write {right!r}"


@cache
def _distributions() -> frozenset[str]:
    """Distributions on which the harness and its backends depend."""
    of_backends = (name for backend in BACKENDS for name in get_backend(backend).distributions)
    try:
        own = metadata.requires("export-harness") or []
    except metadata.PackageNotFoundError:
        own = []
    required = (Requirement(text).name for text in own)
    names = ("transformers", *VERSIONS, *of_backends, *required)
    return frozenset(map(canonicalize_name, names))


def _meet(one: SpecifierSet, other: SpecifierSet) -> bool:
    """Whether a version is in both; versions at and beside each bound stand for all others."""
    bounds = [s.version.removesuffix(".*") for s in (*one, *other)]
    candidates = (version for bound in bounds or ["0"] for version in _around(Version(bound)))
    both = one & other
    return any(both.contains(version, prereleases=True) for version in candidates)


def _around(bound: Version) -> Iterator[Version]:
    """A version, one just above and one just below it."""
    yield bound
    yield Version(f"{bound.base_version}.0.0.0.1")
    *head, last = _without_zeros(bound.release)
    if last:
        yield Version(".".join(map(str, [*head, last - 1, 99999])))


def _without_zeros(release: Iterable[int]) -> list[int]:
    parts = list(release)
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return parts


def _environments() -> Iterator[dict[str, str]]:
    for python, platform, machine in product(PYTHONS, _PLATFORMS, _MACHINES):
        full = f"{python}.9"
        versions = {"python_version": python, "python_full_version": full}
        yield {**versions, **platform, "platform_machine": machine}
