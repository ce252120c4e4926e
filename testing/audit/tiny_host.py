"""Stands in for a test class where none names a model class: its tiny model is built."""

from __future__ import annotations

import unittest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from testing.cases import ExportCase
    from testing.subject import Subject

__all__ = ["TinyHost"]


class TinyHost(unittest.TestCase):
    """Found by a child by its name; it is no test of any module."""

    export_seed = 0

    def runTest(self) -> None:  # noqa: N802
        """What unittest asks for; a child does not run it."""

    def subject(self, model_class: str) -> Subject:
        """The tiny model of a class."""
        from testing.tiny import build

        return build(model_class, seed=self.export_seed)

    def subject_of(self, case: ExportCase) -> Subject:
        """The tiny model of a case's class."""
        return self.subject(case.model_class)
