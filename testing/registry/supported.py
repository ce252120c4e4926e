"""Versions for which ``skips.py`` is kept: what a ``when`` can be about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import Final

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from testing import released
from testing.registry.conditions import Condition

__all__ = ["PYTHONS", "VERSIONS", "impossible_part", "supported_versions"]

PYTHONS: Final = ("3.10", "3.11", "3.12")
"""Of ``requires-python``."""

# torch and torch-neuronx are those of the Neuron SDKs 2.27 to 2.31, and of the extra `export`.
# transformers' are the committed lists; a distribution that is not here may have any version.
VERSIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "torch": ("==2.7.*", "==2.8.*", "==2.9.*", "==2.13.*"),
        "torch-neuronx": (">=2.7,<2.10",),
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
