"""When entries apply, and until when."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Final

from testing.lint.file import LintedFile
from testing.lint.rules import rule
from testing.registry.conditions import Condition
from testing.registry.problems import Code, Problem
from testing.registry.supported import impossible_part, misnamed

__all__ = ["EXPIRED", "IMPOSSIBLE_WHEN", "UNKNOWN_DISTRIBUTION"]

EXPIRED: Final = Code("S502", "expired")
IMPOSSIBLE_WHEN: Final = Code("S504", "impossible-when")
UNKNOWN_DISTRIBUTION: Final = Code("S505", "unknown-distribution")


@rule
def expired_entries(file: LintedFile) -> Iterator[Problem]:
    """An ``until`` that has passed."""
    for entry in file.entries:
        until = entry.value.until
        if until is not None and datetime.date.fromisoformat(until) < file.today:
            message = (
                f"{entry.model_class}: until {until} has passed; run it with --run-skipped, then "
                "delete the entry or give it another date"
            )
            yield Problem(entry.line, EXPIRED, message)


@rule
def impossible_conditions(file: LintedFile) -> Iterator[Problem]:
    """A ``when`` that holds with no supported version, so that its entry never applies."""
    for entry in file.entries:
        part = impossible_part(Condition.parse(entry.value.when)) if entry.value.when else None
        if part:
            message = (
                f"{entry.model_class}: no supported version or platform satisfies {part!r}; "
                "delete the entry or correct its when"
            )
            yield Problem(entry.line, IMPOSSIBLE_WHEN, message)


@rule
def unknown_distributions(file: LintedFile) -> Iterator[Problem]:
    """A ``when`` that names no distribution: one that is absent never makes an entry apply."""
    for entry in file.entries:
        condition = Condition.parse(entry.value.when) if entry.value.when else None
        for name, remedy in misnamed(condition) if condition else ():
            message = f"{entry.model_class}: no distribution is called {name!a}; {remedy}"
            yield Problem(entry.line, UNKNOWN_DISTRIBUTION, message)
