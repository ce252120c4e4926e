"""The checkpoint of this process, loaded when this module is imported: before a fork server forks.

Its weights are pages of their file until something reads them, and the children share them.
"""

from __future__ import annotations

import json
import os
import unittest
from typing import Final

from testing import checkpoint
from testing.cases import ExportCase
from testing.check.naming import VARIABLE
from testing.subject import Subject

__all__ = ["SUBJECT", "CheckpointHost"]


def _load() -> Subject:
    fields = json.loads(os.environ[VARIABLE])
    return checkpoint.load(fields.pop("name"), fields.pop("model_class"), **fields)


SUBJECT: Final = _load()


class CheckpointHost(unittest.TestCase):
    """Found by a child by its name; it is no test of any module."""

    export_seed = 0

    def runTest(self) -> None:  # noqa: N802
        """What unittest asks for; a child does not run it."""

    def subject(self, model_class: str) -> Subject:
        """The checkpoint."""
        return SUBJECT

    def subject_of(self, case: ExportCase) -> Subject:
        """The same, whatever the case is."""
        return SUBJECT
