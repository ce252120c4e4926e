"""Reads and checks ``skips.py``: data only, so its source is read and never run."""

from __future__ import annotations

import ast
import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testing.registry import problems
from testing.registry.edits import Clean, Merge, Place, Remove, Rename
from testing.registry.entries import Skip, Tolerance
from testing.registry.problems import Code, Problem, SkipFileError
from testing.registry.spelling import known_classes, meant, nearest
from testing.registry.values import BadValueError, skip_of, tolerance_of
from testing.scopes import (
    ALL,
    Scope,
    ScopeConflictError,
    ScopeError,
    ScopeOrderError,
    UnknownScopeError,
    vocabulary,
)

__all__ = [
    "EXPORT_SKIPS",
    "ONNX_DISABLE_OPTIMIZE",
    "TABLES",
    "TOLERANCES",
    "Contents",
    "Entry",
    "ScopeKey",
    "parse",
    "read",
]

EXPORT_SKIPS = "EXPORT_SKIPS"
ONNX_DISABLE_OPTIMIZE = "ONNX_DISABLE_OPTIMIZE"
TOLERANCES = "TOLERANCES"
TABLES = (EXPORT_SKIPS, ONNX_DISABLE_OPTIMIZE, TOLERANCES)

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
        column: Character of that line at which its key begins, from 0.
        end_line: Line on which its value ends.
    """

    table: str
    scope: Scope
    model_class: str
    value: Skip | Tolerance
    line: int
    column: int = 0
    end_line: int = 0

    @property
    def place(self) -> Place:
        """Where its key begins."""
        return Place(self.line, self.column)

    @property
    def reason(self) -> str:
        """The measured cause."""
        return self.value.reason

    @property
    def is_of_figures(self) -> bool:
        """Whether it is about the comparison's figures, so that the case runs all the same."""
        return self.table == TOLERANCES or self.scope.is_exactness

    @property
    def where(self) -> str:
        """Its scope, and its table where that is not ``EXPORT_SKIPS``."""
        return str(self.scope) if self.table == EXPORT_SKIPS else f"{self.table} {self.scope}"

    def __str__(self) -> str:
        return f'{self.table}["{self.scope}"]["{self.model_class}"]'


@dataclass(frozen=True)
class ScopeKey:
    """A scope as it stands in a table, also where it has no entry.

    Attributes:
        table: Name of the table.
        scope: The scope.
        line: Line of its key in the file.
    """

    table: str
    scope: Scope
    line: int


@dataclass(frozen=True)
class Contents:
    """What a file has, and every problem of it; what has a problem is not among the entries.

    Attributes:
        path: The file.
        text: Its text.
        entries: Its entries, in its order.
        scopes: Its scopes, in its order.
        problems: By line.
    """

    path: Path
    text: str
    entries: tuple[Entry, ...]
    scopes: tuple[ScopeKey, ...]
    problems: tuple[Problem, ...]


def read(path: Path) -> Contents:
    """Read and check a file.

    Raises:
        SkipFileError: It cannot be read, is not UTF-8 or has a syntax error.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise _fatal(path, 1, problems.UNREADABLE, message) from None
    return parse(path, data)


def parse(path: Path, data: bytes) -> Contents:
    """Check what a file has, or would have.

    Args:
        path: The file, for messages.
        data: Its bytes.

    Raises:
        SkipFileError: They are not UTF-8 or have a syntax error.
    """
    text = _text(path, data)
    reader = _Reader(text.removeprefix("\ufeff"))
    reader.read_ends(data)
    for statement in _statements(path, reader.text):
        reader.read_statement(statement)
    entries = tuple(reader.entries)
    found = sorted([*reader.problems, *_wrong_case(entries)], key=lambda problem: problem.line)
    return Contents(path, text, entries, tuple(reader.scopes), tuple(found))


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        message = f"is not UTF-8: {error.reason}"
        raise _fatal(path, line, problems.UNREADABLE, message) from None


def _statements(path: Path, text: str) -> list[ast.stmt]:
    if "\0" in text:
        # Python's message has no line, and its kind depends on the version.
        line = text[: text.index("\0")].count("\n") + 1
        raise _fatal(path, line, problems.SYNTAX, "a null byte, which Python does not read")
    try:
        return ast.parse(text).body
    except SyntaxError as error:
        raise _fatal(path, error.lineno or 1, problems.SYNTAX, error.msg) from None
    except (RecursionError, MemoryError):
        raise _fatal(path, 1, problems.SYNTAX, "an expression is nested too deeply") from None


def _fatal(path: Path, line: int, code: Code, message: str) -> SkipFileError:
    return SkipFileError(path, (Problem(line, code, message),))


class _Reader:
    """Collects scopes, entries and problems, statement by statement."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.scopes: list[ScopeKey] = []
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []
        # As ast counts them: a form feed or a line separator ends none.
        self._lines = re.split(r"\r\n|\r|\n", text)
        self._tables: dict[str, int] = {}

    def report(self, line: int, code: Code, message: str, **more: Any) -> None:
        self.problems.append(Problem(line, code, message, **more))

    def read_ends(self, data: bytes) -> None:
        """What stands before the text, and at the ends of its lines."""
        if data.startswith(codecs.BOM_UTF8):
            message = "the file starts with a byte order mark; remove it"
            self.report(1, problems.INVISIBLE, message, edit=Clean())
        if b"\r" in data:
            line = data[: data.index(b"\r")].count(b"\n") + 1
            end = "CR LF" if b"\r\n" in data else "CR"
            message = f"the line ends in {end}; save the file with LF"
            self.report(line, problems.INVISIBLE, message, edit=Clean())

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
                self.report(statement.lineno, problems.NOT_DATA, message)

    def _read_table(self, table: str, value: ast.expr, line: int) -> None:
        if table not in TABLES:
            message = f"{table!a} is none of {', '.join(TABLES)}"
            self.report(line, problems.UNKNOWN_TABLE, message)
        elif table in self._tables:
            message = f"{table} is assigned again; it is already at line {self._tables[table]}"
            self.report(line, problems.DUPLICATE_KEY, message)
        else:
            self._tables[table] = line
            for key, place, classes in self._items(value, table):
                self._read_scope(table, key, place, classes)

    def _read_scope(self, table: str, key: str, place: Place, classes: ast.expr) -> None:
        scope = self._scope(table, key, place)
        where = f"{table}[{key!r}]"
        # What is wrong under an unknown scope is told with it.
        entries = list(self._entries(table, scope or ALL, where, classes))
        if scope is not None:
            self.scopes.append(ScopeKey(table, scope, place.line))
            self.entries += entries

    def _scope(self, table: str, key: str, place: Place) -> Scope | None:
        try:
            scope = Scope.parse(key)
        except ScopeError as error:
            self.problems.append(_scope_problem(key, place, error))
            return None
        if message := _misfit(table, scope):
            self.report(place.line, problems.IMPOSSIBLE_SCOPE, message)
            return None
        return scope

    def _entries(self, table: str, scope: Scope, where: str, classes: ast.expr) -> Iterator[Entry]:
        for name, place, node in self._items(classes, where):
            if not _CLASS_NAME.fullmatch(name):
                self.problems.append(_name_problem(name, place))
                continue
            try:
                value = tolerance_of(node) if table == TOLERANCES else skip_of(node)
            except BadValueError as error:
                self.report(error.line or place.line, error.code, f"{name}: {error}")
                continue
            yield Entry(table, scope, name, value, *place, node.end_lineno or place.line)

    def _items(self, node: ast.expr, where: str) -> Iterator[tuple[str, Place, ast.expr]]:
        """The items of a dict literal: key, place of the key, value; each key once."""
        if not isinstance(node, ast.Dict):
            self.report(node.lineno, problems.WRONG_TYPE, f"{where} must be a dict literal")
            return
        seen: dict[str, tuple[int, ast.expr]] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                line = key.lineno if key else value.lineno
                message = f"a key of {where} must be a string literal"
                self.report(line, problems.WRONG_TYPE, message)
                continue
            name, place = key.value, self._place(key)
            if name in seen:
                self._report_duplicate(name, place, value, where, *seen[name])
            else:
                seen[name] = key.lineno, value
                yield name, place, value

    def _report_duplicate(
        self, name: str, place: Place, value: ast.expr, where: str, line: int, first: ast.expr
    ) -> None:
        # Python would keep the last one and say nothing.
        message = f"{name!a} stands in {where} twice; first at line {line}"
        edit = _duplicate_edit(place, first, value)
        self.report(place.line, problems.DUPLICATE_KEY, message, edit=edit)

    def _place(self, node: ast.expr) -> Place:
        # ast counts bytes, libcst and people characters.
        before = self._lines[node.lineno - 1].encode()[: node.col_offset]
        return Place(node.lineno, len(before.decode()))


def _duplicate_edit(place: Place, first: ast.expr, second: ast.expr) -> Merge | Remove | None:
    """What unites two items of one key; two reasons that differ are a person's to choose from."""
    if isinstance(first, ast.Dict) and isinstance(second, ast.Dict):
        return Merge(place)
    return Remove(place) if ast.dump(first) == ast.dump(second) else None


def _scope_problem(key: str, place: Place, error: ScopeError) -> Problem:
    if isinstance(error, ScopeOrderError):
        right = error.canonical
        rename = Rename(place, right)
        return Problem(place.line, problems.FACET_ORDER, str(error), (right,), rename)
    if isinstance(error, ScopeConflictError):
        return Problem(place.line, problems.IMPOSSIBLE_SCOPE, str(error))
    near = (error.nearest,) if isinstance(error, UnknownScopeError) and error.nearest else ()
    meant_scope = _meant_scope(key)
    edit = Rename(place, meant_scope) if meant_scope else None
    return Problem(place.line, problems.UNKNOWN_SCOPE, str(error), near, edit)


def _misfit(table: str, scope: Scope) -> str | None:
    """Why a scope has no place in a table."""
    if scope.is_exactness and table != EXPORT_SKIPS:
        right = str(scope.without_exactness)
        return f"{table} is about exactness already: write {right!r}"
    if table == ONNX_DISABLE_OPTIMIZE and not scope.meets(Scope(backend="onnx")):
        return f"{table} is about onnx, of which {str(scope)!r} has no case"
    return None


def _meant_scope(key: str) -> str | None:
    known = vocabulary()
    facets = [facet if facet in known else meant(facet, known) or "" for facet in key.split(".")]
    try:
        return str(Scope.parse(".".join(facets)))
    except ScopeError:
        return None


def _name_problem(name: str, place: Place) -> Problem:
    near = nearest(name, known_classes())
    right = meant(name, known_classes())
    hint = f"; did you mean {near[0]!r}?" if near else ""
    edit = Rename(place, right) if right else None
    message = f"{name!a} is no name of a class{hint}"
    return Problem(place.line, problems.BAD_NAME, message, near, edit)


def _wrong_case(entries: tuple[Entry, ...]) -> Iterator[Problem]:
    """Names that are a class of a supported transformers but for their case.

    A name that none has at all is no problem here: what is installed may be newer.
    """
    known = known_classes()
    spelt = {name.lower(): name for name in known}
    for entry in entries:
        right = spelt.get(entry.model_class.lower())
        if right and entry.model_class not in known:
            message = f"{entry.model_class!a} is spelt {right!r}"
            edit = Rename(entry.place, right)
            yield Problem(entry.line, problems.BAD_NAME, message, (right,), edit)
