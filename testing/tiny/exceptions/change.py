"""A declared change of one configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Change"]


@dataclass(frozen=True)
class Change:
    """Arguments of a configuration that the rules do not give.

    Attributes:
        why: The reason.
        config: Arguments that replace what the rules give.
        defaults: Arguments without which the class has no usable defaults.
        part: The nested configuration that the class takes, where it declares the whole one.
        tames: Whether the forward does something else than with transformers' defaults.
    """

    why: str
    config: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    part: str = ""
    tames: bool = False
