"""Makes edits in the text of ``skips.py``; what they do not name stays as it is, byte for byte."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from testing.registry.edits import Clean, Edit, Merge, Place, Remove, Rename, Repoint, Sort
from testing.registry.references import repointed
from testing.registry.skip_file import TABLES
from testing.registry.spelling import is_visible

__all__ = ["cleaned", "rewritten"]

_Statement: TypeAlias = cst.SimpleStatementLine | cst.BaseCompoundStatement

_TAB: Final = 4
_STRINGS: Final = (cst.SimpleString, cst.ConcatenatedString)
_BARE: Final = cst.SimpleWhitespace("")
_BLANK: Final = cst.SimpleWhitespace(" ")
_END: Final = cst.TrailingWhitespace(newline=cst.Newline())


def rewritten(text: str, edits: Iterable[Edit]) -> str:
    """The text after `edits`, whose places are those of the text before all of them.

    Comments above an entry and at its end stay with it, wherever it goes.

    Args:
        text: Text of a file of skips without syntax errors.
        edits: In any order.
    """
    wanted = list(edits)
    others = [edit for edit in wanted if not isinstance(edit, Clean)]
    if others:
        module = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        text = _Rewriter(module, others).code()
    return cleaned(text) if len(others) < len(wanted) else text


def cleaned(text: str) -> str:
    """The text with plain spaces and ends of lines, and nothing that cannot be seen."""
    plain = io.StringIO(text.removeprefix("\ufeff"), newline=None).read().expandtabs(_TAB)
    spaced = "".join(" " if char.isspace() and char != "\n" else char for char in plain)
    return "".join(char for char in spaced if is_visible(char) or char == "\n")


@dataclass(frozen=True)
class _Item:
    """One item of a dict literal with its comments.

    Attributes:
        element: Key, value and the comma.
        place: Where its key begins.
        above: Lines of comments above it.
        after: The rest of its line, with the comment there; None in a dict on one line.
    """

    element: cst.DictElement
    place: Place
    above: tuple[cst.EmptyLine, ...] = ()
    after: cst.TrailingWhitespace | None = None

    @property
    def key(self) -> str | None:
        """Its key, None where that is no string."""
        node = self.element.key
        value = node.evaluated_value if isinstance(node, _STRINGS) else None
        return value if isinstance(value, str) else None

    def with_value(self, value: cst.BaseExpression) -> _Item:
        """The item with another value."""
        return dataclasses.replace(self, element=self.element.with_changes(value=value))


class _Rewriter:
    """One text, and what is to be done in it."""

    def __init__(self, module: MetadataWrapper, edits: Sequence[Edit]) -> None:
        self._module = module.module
        self._positions = module.resolve(PositionProvider)
        self._sorts = any(isinstance(edit, Sort) for edit in edits)
        self._at = {edit.place: edit for edit in edits if not isinstance(edit, Sort | Clean)}

    def code(self) -> str:
        """The text after the edits."""
        body = [self._line(line) for line in self._module.body]
        return self._module.with_changes(body=body).code

    def _line(self, line: _Statement) -> _Statement:
        match line:
            case cst.SimpleStatementLine(body=[statement]) if table := _table_of(statement):
                changed = statement.with_changes(value=self._table(table))
                return line.with_changes(body=[changed])
            case _:
                return line

    def _table(self, table: cst.Dict) -> cst.Dict:
        items = [self._scope(item) for item in self._items(table)]
        kept = self._merged([item for item in items if item is not None])
        return _written(table, self._changed(kept))

    def _scope(self, item: _Item) -> _Item | None:
        """A scope after the edits of its entries; None where they have left it empty."""
        classes = item.element.value
        if not isinstance(classes, cst.Dict):
            return item
        entries = self._changed(self._items(classes))
        if classes.elements and not entries:
            return None
        return item.with_value(_written(classes, entries))

    def _changed(self, items: Iterable[_Item]) -> list[_Item]:
        changed = [self._edited(item) for item in items]
        kept = [item for item in changed if item is not None]
        is_sortable = self._sorts and all(item.key is not None for item in kept)
        return sorted(kept, key=_order) if is_sortable else kept

    def _edited(self, item: _Item) -> _Item | None:
        match self._at.get(item.place):
            case Remove():
                return None
            case Rename(name=name):
                key = cst.SimpleString(f'"{name}"')
                return dataclasses.replace(item, element=item.element.with_changes(key=key))
            case Repoint(old=old, new=new):
                return item.with_value(_pointing(item.element.value, old, new))
            case _:
                return item

    def _merged(self, items: list[_Item]) -> list[_Item]:
        """The scopes, each that is to be merged within the first of its name."""
        kept: list[_Item] = []
        for item in items:
            first = next((i for i, other in enumerate(kept) if other.key == item.key), None)
            if first is not None and isinstance(self._at.get(item.place), Merge):
                kept[first] = self._united(kept[first], item)
            else:
                kept.append(item)
        return kept

    def _united(self, one: _Item, other: _Item) -> _Item:
        first, second = one.element.value, other.element.value
        if not (isinstance(first, cst.Dict) and isinstance(second, cst.Dict)):
            return one
        entries = [*self._items(first), *self._items(second)]
        # Comments of entries need lines to stand on.
        layout = first if _has_lines(first) or not _has_lines(second) else second
        return one.with_value(_written(layout, entries))

    def _items(self, node: cst.Dict) -> Iterator[_Item]:
        gaps = _gaps(node)
        elements = [e for e in node.elements if isinstance(e, cst.DictElement)]
        for i, element in enumerate(elements):
            position = self._positions.get(element.key)
            place = Place(position.start.line, position.start.column) if position else Place(0, 0)
            yield _Item(element, place, *_comments(gaps[i], gaps[i + 1]))


def _table_of(statement: cst.BaseSmallStatement) -> cst.Dict | None:
    """The dict literal of a table; None where a statement is something else."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            value: cst.BaseExpression | None = statement.value
        case cst.AnnAssign(target=cst.Name(value=name)):
            value = statement.value
        case _:
            return None
    # A dict with `**` is an error of its own, and nothing in it is moved.
    is_table = name in TABLES and isinstance(value, cst.Dict) and _is_plain(value)
    return value if is_table and isinstance(value, cst.Dict) else None


def _is_plain(node: cst.Dict) -> bool:
    values = [e.value for e in node.elements if isinstance(e, cst.DictElement)]
    inner = [value for value in values if isinstance(value, cst.Dict)]
    return len(values) == len(node.elements) and all(map(_is_plain, inner))


def _gaps(node: cst.Dict) -> list[cst.BaseParenthesizableWhitespace]:
    """What stands before each item, and behind the last."""
    commas = [element.comma for element in node.elements[:-1]]
    between = [c.whitespace_after for c in commas if isinstance(c, cst.Comma)]
    return [node.lbrace.whitespace_after, *between, node.rbrace.whitespace_before]


def _comments(
    before: cst.BaseParenthesizableWhitespace, behind: cst.BaseParenthesizableWhitespace
) -> tuple[tuple[cst.EmptyLine, ...], cst.TrailingWhitespace | None]:
    above = before.empty_lines if isinstance(before, cst.ParenthesizedWhitespace) else ()
    after = behind.first_line if isinstance(behind, cst.ParenthesizedWhitespace) else None
    return tuple(above), after


def _has_lines(node: cst.Dict) -> bool:
    return any(isinstance(gap, cst.ParenthesizedWhitespace) for gap in _gaps(node))


def _written(node: cst.Dict, items: Sequence[_Item]) -> cst.Dict:
    """The dict literal with other items: on one line where it was, else an item a line."""
    if [item.element for item in items] == list(node.elements):
        return node
    if not items:
        return _emptied(node)
    if _has_all(node, items):
        return node.with_changes(elements=[item.element for item in items])
    if not _has_lines(node):
        return _laid_out(node, items, [_BARE, *[_BLANK] * (len(items) - 1)], _BARE)
    opening, closing = node.lbrace.whitespace_after, node.rbrace.whitespace_before
    start = opening.first_line if isinstance(opening, cst.ParenthesizedWhitespace) else _END
    ends = [start, *(item.after or _END for item in items)]
    inner = _inner_line(node)
    befores = [
        inner.with_changes(first_line=end, empty_lines=item.above)
        for end, item in zip(ends, items, strict=False)
    ]
    if isinstance(closing, cst.ParenthesizedWhitespace):
        closing = closing.with_changes(first_line=ends[-1])
    return _laid_out(node, items, befores, closing)


def _has_all(node: cst.Dict, items: Sequence[_Item]) -> bool:
    """Whether every item is there and where it was, so that what is between them can stay."""
    places = [item.place for item in items]
    return len(items) == len(node.elements) and places == sorted(places)


def _inner_line(node: cst.Dict) -> cst.ParenthesizedWhitespace:
    """A line's end and the indentation of the items."""
    *before, closing = _gaps(node)
    found = [gap for gap in before if isinstance(gap, cst.ParenthesizedWhitespace)]
    if found:
        return found[0]
    assert isinstance(closing, cst.ParenthesizedWhitespace)
    deeper = cst.SimpleWhitespace(closing.last_line.value + " " * 4)
    return closing.with_changes(last_line=deeper)


def _laid_out(
    node: cst.Dict,
    items: Sequence[_Item],
    befores: Sequence[cst.BaseParenthesizableWhitespace],
    closing: cst.BaseParenthesizableWhitespace,
) -> cst.Dict:
    """The items with what stands before each; the last has a comma where one was."""
    commas = [
        *map(_comma, items, befores[1:]),
        _comma(items[-1], _BARE) if _has_last_comma(node) else cst.MaybeSentinel.DEFAULT,
    ]
    return node.with_changes(
        lbrace=node.lbrace.with_changes(whitespace_after=befores[0]),
        elements=[
            item.element.with_changes(comma=comma)
            for item, comma in zip(items, commas, strict=True)
        ],
        rbrace=node.rbrace.with_changes(whitespace_before=closing),
    )


def _comma(item: _Item, after: cst.BaseParenthesizableWhitespace) -> cst.Comma:
    """The comma of an item, its own where it has one: a comment may stand before it."""
    own = item.element.comma
    return (own if isinstance(own, cst.Comma) else cst.Comma()).with_changes(
        whitespace_after=after
    )


def _has_last_comma(node: cst.Dict) -> bool:
    return isinstance(node.elements[-1].comma, cst.Comma)


def _emptied(node: cst.Dict) -> cst.Dict:
    """The dict literal without items, but with the comments that belong to none of them."""
    opening, closing = node.lbrace.whitespace_after, node.rbrace.whitespace_before
    kept: cst.BaseParenthesizableWhitespace = _BARE
    if isinstance(closing, cst.ParenthesizedWhitespace):
        start = opening.first_line if isinstance(opening, cst.ParenthesizedWhitespace) else _END
        has_comments = start.comment or any(line.comment for line in closing.empty_lines)
        kept = closing.with_changes(first_line=start) if has_comments else _BARE
    return node.with_changes(
        lbrace=node.lbrace.with_changes(whitespace_after=_BARE),
        elements=[],
        rbrace=node.rbrace.with_changes(whitespace_before=kept),
    )


def _order(item: _Item) -> tuple[str, ...]:
    # Scopes are ordered facet by facet, `all` first; a class has no dot.
    return () if item.key == "all" else tuple((item.key or "").split("."))


def _pointing(value: cst.BaseExpression, old: str, new: str) -> cst.BaseExpression:
    """The value of an entry, its reason referring to `new`."""
    strings = _Strings()
    value.visit(strings)
    for string in strings.found:
        # Prefix and quotes stand before the reason.
        body = string.raw_value
        if (changed := repointed(body, old, new)) != body:
            start = len(string.prefix) + len(string.quote)
            text = string.value[:start] + changed + string.quote
            replaced = value.deep_replace(string, string.with_changes(value=text))
            assert isinstance(replaced, cst.BaseExpression)
            return replaced
    return value


class _Strings(cst.CSTVisitor):
    """Collects string literals in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[cst.SimpleString] = []

    def visit_SimpleString(self, node: cst.SimpleString) -> None:  # noqa: N802
        self.found.append(node)
