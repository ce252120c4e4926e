"""Writes ``skips.py``: all of it or nothing, and never over what somebody else has changed."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

__all__ = ["SaveError", "save"]

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class SaveError(Exception):
    """The file was left as it is; the message says why."""


def save(path: Path, before: bytes, after: bytes) -> None:
    """Replace a file that still has the bytes `before`.

    Args:
        path: The file; where it is a link, what that leads to.
        before: What it had when the change was made out.
        after: What it shall have.

    Raises:
        SaveError: It is read-only, has changed meanwhile, or cannot be written.
    """
    target = path.resolve()
    try:
        mode = target.stat().st_mode
        # A directory in which files may be made would let a read-only one be replaced.
        if not mode & _WRITABLE:
            raise SaveError(f"{path} is read-only and was left as it is; make it writable first")
        _replace(target, before, after, mode)
    except OSError as error:
        raise SaveError(f"{path} was left as it is: {error.strerror}") from error


def _replace(path: Path, before: bytes, after: bytes, mode: int) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(after)
        os.chmod(name, stat.S_IMODE(mode))
        if path.read_bytes() != before:
            raise SaveError(f"{path} has changed meanwhile and was left as it is; start again")
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)
