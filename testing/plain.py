"""Values of any kind as those few that JSON and xdist's channel carry."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

from testing.faults import text_of

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """The value with nothing in it that cannot cross to another process.

    Numbers and text lose what a subclass adds, since the channel goes by the exact type, and lone
    surrogates are escaped, since it encodes. Infinities, NaN and every other object become text.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str):
        return str.__str__(value).encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, float):
        return float.__float__(value) if math.isfinite(value) else float.__repr__(value)
    if isinstance(value, dict):
        return {plain(text_of(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)  # how pytest tells a skip from an error
    return plain(text_of(value))
