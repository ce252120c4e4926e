"""What an entry of a configuration is."""

from __future__ import annotations

from typing import Any

__all__ = ["is_integer", "is_list_of"]


def is_integer(value: Any) -> bool:
    """Whether it is a whole number, which flags are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_list_of(value: Any, kind: type) -> bool:
    """Whether it is a list or tuple, not empty, of one type alone."""
    return (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(isinstance(item, kind) for item in value)
    )
