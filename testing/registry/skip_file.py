"""Reads and checks ``skips.py``: data only, so its source is read and never run."""

from __future__ import annotations

import ast
import dataclasses
import datetime
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testing import auto_classes
from testing.auto_classes import TransformersMissingError
from testing.registry.conditions import Condition, ConditionError
from testing.registry.entries import Skip, Tolerance
from testing.scopes import Scope, ScopeError

__all__ = ["KINDS", "TABLES", "Entry", "Problem", "SkipFileError", "read"]

EXPORT_SKIPS = "EXPORT_SKIPS"
ONNX_DISABLE_OPTIMIZE = "ONNX_DISABLE_OPTIMIZE"
TOLERANCES = "TOLERANCES"
TABLES = (EXPORT_SKIPS, ONNX_DISABLE_OPTIMIZE, TOLERANCES)
KINDS = ("bug", "wontfix", "needs-package", "slow")

_CLASS_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Entry:
    """One entry: a class under a scope of a table.

    Attributes:
        table: ``EXPORT_SKIPS``, ``ONNX_DISABLE_OPTIMIZE`` or ``TOLERANCES``.
        scope: The cases that it is about.
        model_class: Name of the class, matched whole.
        value: A `Skip`, also where the file has a string; a `Tolerance` in ``TOLERANCES``.
        line: Line of its key in the file.
    """

    table: str
    scope: Scope
    model_class: str
    value: Skip | Tolerance
    line: int

    @property
    def reason(self) -> str:
        """The measured cause."""
        return self.value.reason

    def __str__(self) -> str:
        return f'{self.table}["{self.scope}"]["{self.model_class}"]'


@dataclass(frozen=True)
class Problem:
    """Something wrong in the file.

    Attributes:
        line: Where, from 1.
        code: What kind, such as ``unknown-scope``.
        message: What is wrong and what to do.
    """

    line: int
    code: str
    message: str


class SkipFileError(ValueError):
    """A file of skips that cannot be trusted; the message gives ``file:line`` of each problem."""

    def __init__(self, path: Path, problems: tuple[Problem, ...]) -> None:
        lines = [f"{path}:{p.line}: {p.message} [{p.code}]" for p in problems]
        super().__init__("\n".join(lines))
        self.path = path
        self.problems = problems


def read(path: Path) -> tuple[tuple[Entry, ...], tuple[Problem, ...]]:
    """Entries of a file in its order, and every problem that it has.

    An entry with a problem is not among the entries.

    Raises:
        SkipFileError: The file cannot be read, is not UTF-8 or has a syntax error.
    """
    reader = _Reader()
    for statement in _parse(path, reader):
        reader.read_statement(statement)
    entries = tuple(reader.entries)
    problems = [*reader.problems, *_wrong_case(entries)]
    return entries, tuple(sorted(problems, key=lambda problem: problem.line))


def _parse(path: Path, reader: _Reader) -> list[ast.stmt]:
    try:
        data = path.read_bytes()
        text = data.decode("utf-8")
        if text.startswith("\ufeff"):
            reader.report(1, "invisible", "the file starts with a byte order mark; remove it")
        if b"\r" in data:
            line = data[: data.index(b"\r")].count(b"\n") + 1
            reader.report(line, "invisible", "the line ends in CR LF; save the file with LF")
        return ast.parse(text.removeprefix("\ufeff")).body
    except OSError as error:
        raise _fatal(path, 1, "unreadable", f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _fatal(path, line, "unreadable", f"is not UTF-8: {error.reason}") from None
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise _fatal(path, line, "syntax", getattr(error, "msg", str(error))) from None


def _fatal(path: Path, line: int, code: str, message: str) -> SkipFileError:
    return SkipFileError(path, (Problem(line, code, message),))


class _Reader:
    """Collects entries and problems, statement by statement."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []
        self._tables: dict[str, int] = {}

    def report(self, line: int, code: str, message: str) -> None:
        self.problems.append(Problem(line, code, message))

    def read_statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
                return
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._read_table(name, value, statement.lineno)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._read_table(name, value, statement.lineno)
            case _:
                message = "only data stands here: imports and " + ", ".join(TABLES)
                self.report(statement.lineno, "not-data", message)

    def _read_table(self, table: str, value: ast.expr, line: int) -> None:
        if table not in TABLES:
            self.report(line, "unknown-table", f"{table!a} is none of {', '.join(TABLES)}")
        elif table in self._tables:
            message = f"{table} is assigned again; it is already at line {self._tables[table]}"
            self.report(line, "duplicate-key", message)
        else:
            self._tables[table] = line
            for key, key_line, classes in self._items(value, table):
                self._read_scope(table, key, key_line, classes)

    def _read_scope(self, table: str, key: str, line: int, classes: ast.expr) -> None:
        try:
            scope = Scope.parse(key)
        except ScopeError as error:
            self.report(line, "unknown-scope", str(error))
            return
        if scope.is_exactness and table != EXPORT_SKIPS:
            message = f"{table} is about exactness already: write {str(scope.without_exactness)!r}"
            self.report(line, "unknown-scope", message)
            return
        for name, name_line, value in self._items(classes, f"{table}[{key!r}]"):
            self._read_entry(table, scope, name, name_line, value)

    def _read_entry(self, table: str, scope: Scope, name: str, line: int, node: ast.expr) -> None:
        if not _CLASS_NAME.fullmatch(name):
            self.report(line, "bad-name", f"{name!a} is no name of a class{_hint(name)}")
            return
        try:
            value = _tolerance(node) if table == TOLERANCES else _skip(node)
        except _ValueError as error:
            self.report(error.line or line, error.code, f"{name}: {error}")
            return
        self.entries.append(Entry(table, scope, name, value, line))

    def _items(self, node: ast.expr, where: str) -> Iterator[tuple[str, int, ast.expr]]:
        """The items of a dict literal: key, line of the key, value; each key once."""
        if not isinstance(node, ast.Dict):
            self.report(node.lineno, "wrong-type", f"{where} must be a dict literal")
            return
        seen: dict[str, int] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                line = key.lineno if key else value.lineno
                self.report(line, "wrong-type", f"a key of {where} must be a string literal")
            elif key.value in seen:
                # Python would keep the last one and say nothing.
                message = f"{key.value!a} stands in {where} twice; first at line {seen[key.value]}"
                self.report(key.lineno, "duplicate-key", message)
            else:
                seen[key.value] = key.lineno
                yield key.value, key.lineno, value


class _ValueError(ValueError):
    """A value that an entry cannot have."""

    def __init__(self, code: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.line = line


def _skip(node: ast.expr) -> Skip:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        skip = Skip(node.value)
    else:
        skip = Skip(**_arguments(node, Skip, "a string or Skip(…)"))
    _check_types(skip, {"reason": str, "kind": str}, str)
    if not _is_text(skip.reason):
        raise _ValueError("empty-reason", "the reason is empty; say what was measured")
    if skip.kind not in KINDS:
        raise _ValueError("wrong-type", f"kind {skip.kind!a} is none of {', '.join(KINDS)}")
    _check_condition(skip)
    return skip


def _check_condition(skip: Skip) -> None:
    try:
        if skip.when is not None:
            Condition.parse(skip.when)
    except ConditionError as error:
        raise _ValueError("bad-when", f"when: {error}") from None
    try:
        if skip.until is not None:
            datetime.date.fromisoformat(skip.until)
    except ValueError:
        message = f"until {skip.until!a} is no date; write it 2026-12-31"
        raise _ValueError("bad-until", message) from None


def _tolerance(node: ast.expr) -> Tolerance:
    tolerance = Tolerance(**_arguments(node, Tolerance, "Tolerance(…)"))
    number = (int, float)
    _check_types(tolerance, {"atol": number, "rtol": number, "mismatch": number}, str)
    for name in ("atol", "rtol", "mismatch"):
        value = getattr(tolerance, name)
        if not (math.isfinite(value) and value >= 0) or isinstance(value, bool):
            raise _ValueError("wrong-type", f"{name} must be 0 or more, not {value}")
    if tolerance.mismatch > 1:
        message = f"mismatch is a share from 0 to 1, not {tolerance.mismatch}"
        raise _ValueError("wrong-type", message)
    if not _is_text(tolerance.reason):
        raise _ValueError("empty-reason", "reason is empty; say what was measured")
    return tolerance


def _arguments(node: ast.expr, made: type, expected: str) -> dict[str, Any]:
    """Arguments of a call of `made`, by field; all are literals."""
    if not (isinstance(node, ast.Call) and _name(node.func) == made.__name__):
        raise _ValueError("wrong-type", f"must be {expected}", node.lineno)
    fields = [field for field in dataclasses.fields(made)]
    given = dict(zip((field.name for field in fields), node.args, strict=False))
    given |= {keyword.arg or "**": keyword.value for keyword in node.keywords}
    unknown = [name for name in given if name not in {field.name for field in fields}]
    if unknown or len(node.args) > len(fields):
        what = ", ".join(unknown) or "so many arguments"
        raise _ValueError("wrong-type", f"{made.__name__} takes no {what}", node.lineno)
    required = [f.name for f in fields if f.default is dataclasses.MISSING]
    missing = [name for name in required if name not in given]
    if missing:
        raise _ValueError("wrong-type", f"{made.__name__} needs {', '.join(missing)}")
    return {name: _literal(name, value) for name, value in given.items()}


def _literal(name: str, node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        raise _ValueError("wrong-type", f"{name} must be a literal", node.lineno) from None


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
            raise _ValueError("wrong-type", message)


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _is_text(text: str) -> bool:
    """Whether a reader sees anything: invisible characters are no reason."""
    return any(unicodedata.category(char)[0] not in "ZC" for char in text)


def _hint(name: str) -> str:
    """The class that a misspelt name most likely means."""
    visible = "".join(char for char in name if char.isascii() and char.isprintable()).strip()
    try:
        close = auto_classes.nearest(visible, 1)
    except TransformersMissingError:
        return ""
    return f"; did you mean {close[0]!r}?" if close else ""


def _wrong_case(entries: tuple[Entry, ...]) -> Iterator[Problem]:
    """Names that are a class of the installed transformers but for their case.

    A name that it does not have at all is no problem here: another version may have it.
    """
    if not entries:
        return
    try:
        known = auto_classes.known_classes()
    except TransformersMissingError:
        return
    spelt = {name.lower(): name for name in known}
    for entry in entries:
        right = spelt.get(entry.model_class.lower())
        if right and entry.model_class not in known:
            message = f"{entry.model_class!a} is spelt {right!r}"
            yield Problem(entry.line, "bad-name", message)
