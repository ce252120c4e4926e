"""Cases in which nothing happens, as many as ``NOOP_CASES`` says: what they cost is ours."""

from __future__ import annotations

import os

from tests.testing.faults_backend import cases

__all__ = ["NoopExportTest"]


class NoopExportTest(cases.FaultsExportTest):
    """So many cases, none of them faulty."""

    all_model_classes = tuple(
        f"Case{number:03d}IsSound" for number in range(int(os.environ.get("NOOP_CASES", "100")))
    )
