"""``skips lint``: what a person would not notice in ``skips.py``; imports no torch, no pytest.

`rules` holds what is asked, `linting` asks it.
"""

from __future__ import annotations

from testing.lint.linting import DEFAULT_TESTS, Linter, Report

__all__ = ["DEFAULT_TESTS", "Linter", "Report"]
