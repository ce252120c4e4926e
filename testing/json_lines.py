"""Files of JSON, one object a line, that survive a writer that dies within a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["append", "rows"]


def append(path: Path, line: bytes) -> None:
    """Write one line; it is in the file, whatever becomes of this process, on return.

    Args:
        path: The file; its directory is there.
        line: Without its end; nothing only sees that the file can be written.

    Raises:
        OSError: The disk is full, or the file cannot be written.
    """
    # Opened for each line: a child that is forked in between inherits nothing.
    with open(path, "ab+", buffering=0) as stream:
        if not line:
            return
        start = b"\n" if _is_torn(stream.fileno()) else b""
        left = start + line + b"\n"
        while left:
            left = left[stream.write(left) :]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file that need not be there; a line that holds none is passed over.

    Raises:
        OSError: The file cannot be read.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            continue  # the torn last line of a writer that was killed
        if isinstance(found, dict):
            yield found


def _is_torn(descriptor: int) -> bool:
    """Whether the file ends inside a line, which a writer that died has left."""
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
