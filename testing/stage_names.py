"""How the stages of a case's components are told apart from those of the case itself."""

from __future__ import annotations

from typing import Final

__all__ = ["in_component", "split_stage"]

_SEPARATOR: Final = ": "


def in_component(component: str, stage: str) -> str:
    """How a stage of a component is told, ``language_model: export``."""
    return f"{component}{_SEPARATOR}{stage}"


def split_stage(told: str) -> tuple[str | None, str]:
    """The component, None where it is the case itself, and the stage of what was told."""
    component, _, stage = told.rpartition(_SEPARATOR)
    return component or None, stage
