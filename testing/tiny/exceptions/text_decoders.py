"""Exceptions of decoders of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from testing.tiny.exceptions.change import Change

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {}
