"""Amounts of memory as people write them."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["SizeError", "parse_size", "size_text"]

_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE: Final = re.compile(r"(?P<number>\d{1,15}(\.\d+)?)\s*(?P<unit>[KMGT]?)(i?B)?", re.IGNORECASE)


class SizeError(ValueError):
    """A text that is no amount of memory."""


def parse_size(text: str) -> int:
    """Bytes of a text such as ``8G``, ``512 MiB`` or ``1.5g``; units are powers of 1024.

    Raises:
        SizeError: It is none, or is nothing.
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match["number"]) * _UNITS[match["unit"].upper()]) if match else 0
    if not size:
        raise SizeError(f"{text!r} is no amount of memory: give a number with K, M, G or T")
    return size


def size_text(size: float) -> str:
    """Bytes as ``1.5 GiB``, ``512 MiB``; less than a MiB as bytes."""
    for unit in "TGM":
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.3g} {unit}iB"
    return f"{size:g} bytes"
