"""Values of entries, read from their expressions and checked: nothing is run."""

from __future__ import annotations

import ast
import dataclasses
import datetime
import math
from collections.abc import Mapping
from typing import Any, Final

from testing.registry import problems
from testing.registry.conditions import Condition, ConditionError
from testing.registry.entries import Skip, Tolerance
from testing.registry.problems import Code
from testing.registry.spelling import is_visible

__all__ = ["KINDS", "BadValueError", "skip_of", "tolerance_of"]

KINDS: Final = ("bug", "wontfix", "needs-package", "slow")


class BadValueError(ValueError):
    """A value that an entry cannot have; `line` where that is not the line of its key."""

    def __init__(self, code: Code, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.line = line


def skip_of(node: ast.expr) -> Skip:
    """A string or a call of `Skip`.

    Raises:
        BadValueError: It is neither, or an argument cannot be.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        skip = Skip(node.value)
    else:
        skip = Skip(**_arguments(node, Skip, "a string or Skip(…)"))
    _check_types(skip, {"reason": str, "kind": str}, str)
    if not _is_text(skip.reason):
        raise BadValueError(problems.EMPTY_REASON, "the reason is empty; say what was measured")
    if skip.kind not in KINDS:
        raise BadValueError(
            problems.WRONG_TYPE, f"kind {skip.kind!a} is none of {', '.join(KINDS)}"
        )
    _check_condition(skip)
    return skip


def _check_condition(value: Skip | Tolerance) -> None:
    try:
        if value.when is not None:
            Condition.parse(value.when)
    except ConditionError as error:
        raise BadValueError(problems.BAD_WHEN, f"when: {error}") from None
    try:
        if value.until is not None:
            datetime.date.fromisoformat(value.until)
    except ValueError:
        message = f"until {value.until!a} is no date; write it 2026-12-31"
        raise BadValueError(problems.BAD_UNTIL, message) from None


def tolerance_of(node: ast.expr) -> Tolerance:
    """A call of `Tolerance`.

    Raises:
        BadValueError: It is none, or an argument cannot be.
    """
    tolerance = Tolerance(**_arguments(node, Tolerance, "Tolerance(…)"))
    number = (int, float)
    _check_types(tolerance, {"atol": number, "rtol": number, "mismatch": number}, str)
    for name in ("atol", "rtol", "mismatch"):
        value = getattr(tolerance, name)
        if not (math.isfinite(value) and value >= 0) or isinstance(value, bool):
            raise BadValueError(problems.WRONG_TYPE, f"{name} must be 0 or more, not {value}")
    if tolerance.mismatch > 1:
        message = f"mismatch is a share from 0 to 1, not {tolerance.mismatch}"
        raise BadValueError(problems.WRONG_TYPE, message)
    if not _is_text(tolerance.reason):
        raise BadValueError(problems.EMPTY_REASON, "reason is empty; say what was measured")
    _check_condition(tolerance)
    return tolerance


def _arguments(node: ast.expr, made: type, expected: str) -> dict[str, Any]:
    """Arguments of a call of `made`, by field; all are literals."""
    if not (isinstance(node, ast.Call) and _name(node.func) == made.__name__):
        raise BadValueError(problems.WRONG_TYPE, f"must be {expected}", node.lineno)
    fields = [field for field in dataclasses.fields(made)]
    given = dict(zip((field.name for field in fields), node.args, strict=False))
    given |= {keyword.arg or "**": keyword.value for keyword in node.keywords}
    unknown = [name for name in given if name not in {field.name for field in fields}]
    if unknown or len(node.args) > len(fields):
        what = ", ".join(unknown) or "so many arguments"
        raise BadValueError(problems.WRONG_TYPE, f"{made.__name__} takes no {what}", node.lineno)
    required = [f.name for f in fields if f.default is dataclasses.MISSING]
    missing = [name for name in required if name not in given]
    if missing:
        raise BadValueError(problems.WRONG_TYPE, f"{made.__name__} needs {', '.join(missing)}")
    return {name: _literal(name, value) for name, value in given.items()}


def _literal(name: str, node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        raise BadValueError(
            problems.WRONG_TYPE, f"{name} must be a literal", node.lineno
        ) from None


def _check_types(value: Skip | Tolerance, types: Mapping[str, Any], otherwise: type[str]) -> None:
    """Each field has its type; one that may be left out may be None."""
    for field in dataclasses.fields(value):
        given = getattr(value, field.name)
        if given is None and field.name not in types:
            continue
        expected = types.get(field.name, otherwise)
        if not isinstance(given, expected):
            wanted = "a number" if expected is not str else "a string"
            message = f"{field.name} must be {wanted}, not {type(given).__name__}"
            raise BadValueError(problems.WRONG_TYPE, message)


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _is_text(text: str) -> bool:
    """Whether a reader sees anything: invisible characters are no reason."""
    return any(is_visible(char) and char != " " for char in text)
