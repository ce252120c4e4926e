"""How a fork server is told which checkpoint to load."""

from __future__ import annotations

import json
from collections.abc import Mapping

from testing.checkpoint.source import Source

__all__ = ["HOST", "MODULE", "VARIABLE", "environment_of"]

VARIABLE = "EXPORT_HARNESS_CHECKPOINT"
"""The environment variable that holds the fields of a `Source`."""
MODULE = "testing.check.loaded"
"""The module that loads it."""
HOST = "CheckpointHost"
"""The class in it that stands in for a test class."""


def environment_of(source: Source, directory: str) -> Mapping[str, str]:
    """What the server's environment is to have.

    Args:
        source: The checkpoint.
        directory: Where temporary files go, and code that it brings along when it may run.
    """
    return {
        VARIABLE: json.dumps(source.to_dict()),
        "HF_MODULES_CACHE": directory,
        # torch makes a directory for temporary code when it is imported.
        "TMPDIR": directory,
        # A tokenizer's threads would not survive the fork.
        "TOKENIZERS_PARALLELISM": "false",
        # Nor would the thread that watches over bars, which weights in several files would show.
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
