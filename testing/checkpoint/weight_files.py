"""The files that a checkpoint's weights are in, and whether they are whole; imports no torch."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from testing.checkpoint.errors import CheckpointError

__all__ = ["WEIGHT_FILES", "require_whole"]

WEIGHT_FILES: Final = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
"""In the order in which transformers takes them."""

_POINTER: Final = b"version https://git-lfs"
_LENGTH_BYTES: Final = 8


def require_whole(directory: Path) -> None:
    """See that each file is there, and as long as it says where it says so.

    What is cut off is found here in no time, and not after a minute as an error of a parser.

    Raises:
        CheckpointError: There is none, or one is missing, cut off or a pointer of Git LFS.
    """
    found = [directory / name for name in WEIGHT_FILES if (directory / name).is_file()]
    if not found:
        raise CheckpointError(
            f"{directory} is no checkpoint: it has none of {', '.join(WEIGHT_FILES)}"
        )
    for path in _shards(found[0]) if found[0].suffix == ".json" else [found[0]]:
        _require_one(path)


def _shards(index: Path) -> list[Path]:
    try:
        shards = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        return [index.with_name(name) for name in sorted(shards)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        told = f"{type(error).__name__}: {error}"
        raise CheckpointError(f"{index} names no files of weights: {told}") from error


def _require_one(path: Path) -> None:
    try:
        with path.open("rb") as stream:
            start = stream.read(len(_POINTER))
    except OSError as error:
        raise CheckpointError(f"weights are missing: {path}: {error.strerror}") from error
    if start == _POINTER:
        raise CheckpointError(
            f"{path} is a pointer of Git LFS and not the file: git lfs pull brings it"
        )
    size = path.stat().st_size
    whole = _whole_size(path, start[:_LENGTH_BYTES]) if path.suffix == ".safetensors" else 1
    if size < whole:
        raise CheckpointError(f"{path} is cut off: it has {size} of {whole} bytes or more")


def _whole_size(path: Path, start: bytes) -> int:
    """Bytes of a safetensors file, as far as its header is there.

    The format: https://huggingface.co/docs/safetensors, "Format".
    """
    header_end = _LENGTH_BYTES + int.from_bytes(start, "little")
    if len(start) < _LENGTH_BYTES or header_end > os.path.getsize(path):
        return max(header_end, _LENGTH_BYTES)
    try:
        with path.open("rb") as stream:
            header: Mapping[str, Any] = json.loads(stream.read(header_end)[_LENGTH_BYTES:])
        ends = [at["data_offsets"][1] for name, at in header.items() if name != "__metadata__"]
        return header_end + int(max(ends, default=0))
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        told = f"{type(error).__name__}: {error}"
        raise CheckpointError(f"{path} is no safetensors file: {told}") from error
