"""Classes that have no tiny model with valid inputs yet, each with the cause that was seen.

They count as not covered; declared here, they do not make `export-harness coverage` fail. One that
works makes it fail, until its entry is deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["MISSING", "missing_cause"]

MISSING: Final[Mapping[str, Mapping[str, str]]] = {}
"""Causes by class, by the major version of transformers."""


def missing_cause(model_class: str, transformers: str) -> str | None:
    """Why a class has none under a version of transformers; None where it should have one."""
    return MISSING.get(transformers.partition(".")[0], {}).get(model_class)
