"""Conditions on installed distributions: the ``when`` of an entry in ``skips.py``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from packaging.markers import (
    InvalidMarker,
    Marker,
    UndefinedComparison,
    UndefinedEnvironmentName,
)
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import Specifier
from packaging.version import InvalidVersion, Version

from exporters.distributions import version_of

__all__ = ["Condition", "ConditionError", "Installed", "installed_version"]

Installed: TypeAlias = Callable[[str], "Version | None"]
"""Gives the version of an installed distribution, None when it is absent."""


class ConditionError(ValueError):
    """A ``when`` that cannot be read, or a version that cannot be compared."""


@dataclass(frozen=True)
class Condition:
    """Requirements that must all hold, and a marker for Python and the platform.

    Attributes:
        requirements: Of installed distributions, such as ``torch-neuronx<2.9``.
        marker: Of the environment, such as ``python_version < "3.12"``.
    """

    requirements: tuple[Requirement, ...]
    marker: Marker | None = None

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read requirements joined by ``and``, then optionally ``;`` and a marker.

        Raises:
            ConditionError: A part is neither, or the text is empty.
        """
        left, _, right = text.partition(";")
        parts = re.split(r"\s+and\s+", left.strip()) if left.strip() else []
        if not parts and not right.strip():
            raise ConditionError("a condition needs a requirement or a marker")
        requirements = tuple(_requirement(part) for part in parts)
        return cls(requirements, _marker(right) if right.strip() else None)

    def holds(self, installed: Installed | None = None) -> bool:
        """Whether all of it is so here; an absent distribution never fulfils a requirement.

        Args:
            installed: Gives the versions; what this interpreter has by default.
        """
        found = installed or installed_version
        met = all(_is_met(requirement, found) for requirement in self.requirements)
        return met and (self.marker is None or self.marker.evaluate())


@cache
def installed_version(name: str) -> Version | None:
    """Version of an installed distribution; None when it is absent or only holds a name.

    Raises:
        ConditionError: Its version does not follow PEP 440.
    """
    text = version_of(name)
    try:
        return None if text is None else Version(text)
    except InvalidVersion:
        raise ConditionError(f"version {text!r} of {name} cannot be compared") from None


def _is_met(requirement: Requirement, installed: Installed) -> bool:
    version = installed(requirement.name)
    return version is not None and all(_is_within(version, one) for one in requirement.specifier)


def _is_within(version: Version, specifier: Specifier) -> bool:
    """Whether a version is one of a specifier.

    A nightly or release candidate counts as the version that it leads to, except where it is
    compared with another. PEP 440 has 5.0rc1 in neither ``<5`` nor ``>=5``.
    """
    if version.is_prerelease and not specifier.prereleases:
        local = f"+{version.local}" if version.local else ""
        version = Version(f"{version.base_version}{local}")
    return specifier.contains(version, prereleases=True)


def _requirement(text: str) -> Requirement:
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        hint = "a marker goes behind `;`" if _is_marker(text) else _first_line(error)
        raise ConditionError(f"{text!a} is no requirement: {hint}") from None
    if requirement.url or requirement.extras:
        raise ConditionError(f"{text!a}: a name and versions, without URL or extras")
    return requirement


def _marker(text: str) -> Marker:
    try:
        marker = Marker(text.strip())
        # Names and comparisons that there are not are found only as it is evaluated.
        marker.evaluate()
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName) as error:
        raise ConditionError(f"{text.strip()!a} is no marker: {_first_line(error)}") from None
    return marker


def _is_marker(text: str) -> bool:
    try:
        Marker(text)
    except InvalidMarker:
        return False
    return True


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
