"""``skips.py`` as the harness reads it: its entries, their conditions, and which applies."""

from __future__ import annotations

from testing.registry.entries import Skip, Tolerance
from testing.registry.lookup import DEFAULT_PATH, Entry, Registry, SkipFileError

__all__ = ["DEFAULT_PATH", "Entry", "Registry", "Skip", "SkipFileError", "Tolerance"]
