"""The rules of the lint, a subject a module, found by being here.

A rule is a function that takes a `LintedFile` and gives a `Problem` for each place, with `@rule`
before it and its code beside it.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import TypeAlias

from testing.lint.file import LintedFile
from testing.registry.problems import Problem

__all__ = ["Rule", "all_rules", "rule"]

Rule: TypeAlias = Callable[[LintedFile], Iterator[Problem]]

_RULES: list[Rule] = []


def rule(function: Rule) -> Rule:
    """Make a function a rule of the lint."""
    _RULES.append(function)
    return function


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule of the modules here."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        import_module(module.name)
    return tuple(_RULES)
