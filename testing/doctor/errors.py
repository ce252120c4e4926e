"""What keeps a model from being diagnosed."""

from __future__ import annotations

from pathlib import Path

__all__ = ["DoctorError", "FindingsFileError"]


class DoctorError(Exception):
    """There is nothing to diagnose or nothing to diagnose it with; the message says why."""


class FindingsFileError(DoctorError):
    """A file of findings that cannot be read or written."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(
            f"{path} cannot be used ({error.strerror}); name another file with --journal"
        )
