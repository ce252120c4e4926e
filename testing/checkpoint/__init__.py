"""Subjects from checkpoints: their weights, and real inputs through what they bring along.

`source` says where one is and refuses what is none, and `weight_files` what is not whole, both
without torch; `loading` loads it.
`sentences`, `pictures` and `sounds` (both `numbered`) are what `real` makes by what a checkpoint
brings along; `inputs` puts them together with random ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from testing.checkpoint.errors import CheckpointError
from testing.checkpoint.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from testing.subject import Subject

__all__ = ["CheckpointError", "Source", "load"]


def load(checkpoint: str | Path, model_class: str | None = None, **options: Any) -> Subject:
    """A checkpoint's model and inputs for it.

    Args:
        checkpoint: Directory with configuration and weights, or an id on the hub.
        model_class: transformers' class to load it as; by default the one that it names.
        options: Further fields of `Source`.

    Raises:
        CheckpointError: Something of it cannot be loaded, or its weights are not the class's.
    """
    # Importing this package must not import torch.
    from testing.checkpoint.loading import load_subject

    return load_subject(Source(str(checkpoint), model_class, **options))
