"""Values of entries, read from their expressions and checked: nothing is run."""

from __future__ import annotations

import ast
import dataclasses
import datetime
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from testing.registry import problems
from testing.registry.conditions import Condition, ConditionError
from testing.registry.entries import Skip, Tolerance
from testing.registry.problems import Code
from testing.registry.spelling import is_visible

__all__ = ["KINDS", "BadValueError", "skip_of", "tolerance_of"]

KINDS: Final = ("bug", "wontfix", "needs-package", "slow")

# Python 3.11 reads other forms of ISO 8601 as well, 3.10 this one alone.
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


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
    if value.until is not None and not _is_date(value.until):
        message = f"until {value.until!a} is no date; write it 2026-12-31"
        raise BadValueError(problems.BAD_UNTIL, message)


def _is_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return _DATE.fullmatch(text) is not None


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
    fields = dataclasses.fields(made)
    names = [field.name for field in fields]
    pairs = list(zip(names, node.args, strict=False))
    pairs += [(keyword.arg or "**", keyword.value) for keyword in node.keywords]
    required = [f.name for f in fields if f.default is dataclasses.MISSING]
    fault = next(_faults_of(node, [name for name, _ in pairs], names, required), None)
    if fault:
        raise BadValueError(problems.WRONG_TYPE, f"{made.__name__} {fault}", node.lineno)
    return {name: _literal(name, value) for name, value in pairs}


def _faults_of(
    call: ast.Call, given: Sequence[str], names: Sequence[str], required: Sequence[str]
) -> Iterator[str]:
    """Why Python would refuse the arguments of a call, in words behind the name of what it calls.

    Args:
        call: The call.
        given: Names of its arguments, those by position first.
        names: Names that there are.
        required: Those that have no default.
    """
    if len(call.args) > len(names):
        yield f"takes at most {len(names)} arguments, not {len(call.args)}"
    if unknown := [name for name in given if name not in names]:
        yield f"takes no {', '.join(unknown)}"
    if repeated := [name for name, count in Counter(given).items() if count > 1]:
        yield f"is given {', '.join(repeated)} twice"
    if missing := [name for name in required if name not in given]:
        yield f"needs {', '.join(missing)}"


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
        if field.name in ("issue", "component") and not _is_text(given):
            message = f"{field.name} is empty; leave it out"
            raise BadValueError(problems.WRONG_TYPE, message)


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _is_text(text: str) -> bool:
    """Whether a reader sees anything: invisible characters are no reason."""
    return any(is_visible(char) and char != " " for char in text)
