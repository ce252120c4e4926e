"""What becomes of ``Same as `X`.`` when the entry of X goes: the next holds the full reason."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from testing.registry import Entry
from testing.registry.references import holders, reference_of
from testing.registry.skip_file import Contents, parse

__all__ = ["Succession", "inherited", "succession"]


@dataclass(frozen=True)
class Succession:
    """Entries whose reasons change.

    Attributes:
        repointed: For each that refers to another class now, the old class and the new.
        heirs: For each that gives the full reason now, the entry that it has it from.
    """

    repointed: Mapping[Entry, tuple[str, str]] = field(default_factory=dict)
    heirs: Mapping[Entry, Entry] = field(default_factory=dict)


def succession(entries: Sequence[Entry], removed: Sequence[Entry]) -> Succession:
    """What becomes of the reasons that refer to entries that go.

    The first that no other entry of the same reason can stand in for takes it over.
    """
    left = [entry for entry in entries if entry not in removed]
    repointed: dict[Entry, tuple[str, str]] = {}
    heirs: dict[Entry, Entry] = {}
    for entry in left:
        gone = _lost(entry, entries, removed)
        if gone is None:
            continue
        full = _full(gone, entries)
        other = next((e for e in left if _can_stand_in(e, entry, full, heirs, left)), None)
        if other is None:
            heirs[entry] = full
        else:
            repointed[entry] = (gone.model_class, other.model_class)
    return Succession(repointed, heirs)


def inherited(before: Contents, text: str, heirs: Mapping[Entry, Entry]) -> str:
    """`text`, each heir with the reason of the entry that it follows, as that was written.

    What the heir itself told beside the reference stays, behind it.

    Args:
        before: The file with all of its entries.
        text: The text without those that go.
        heirs: For each heir whose reason it takes over.
    """
    for heir, full in heirs.items():
        reason = _reason_at(before.text, full).of(before.text)
        after = parse(before.path, text.encode("utf-8")).entries
        place = next(entry for entry in after if _is_same(entry, heir))
        text = _replaced(text, _reason_at(text, place), reason, _own_words(heir))
    return text


def _lost(entry: Entry, entries: Sequence[Entry], removed: Sequence[Entry]) -> Entry | None:
    """The entry to which one refers and that goes; None where another of its class stays."""
    name = reference_of(entry.reason)
    found = list(holders(entry, name, entries)) if name else []
    return found[0] if found and all(other in removed for other in found) else None


def _full(entry: Entry, entries: Sequence[Entry]) -> Entry:
    """The entry that gives the reason to which one refers."""
    seen = [entry]
    while name := reference_of(seen[-1].reason):
        found = (other for other in holders(seen[-1], name, entries) if other not in seen)
        following = next(found, None)
        if following is None:
            break
        seen.append(following)
    return seen[-1]


def _can_stand_in(
    other: Entry, entry: Entry, full: Entry, heirs: Mapping[Entry, Entry], left: Sequence[Entry]
) -> bool:
    gives_it = other.reason == full.reason or heirs.get(other) == full
    return gives_it and other != entry and other in holders(entry, other.model_class, left)


def _own_words(heir: Entry) -> str:
    """What a reason says beside the reference: ``in its neck`` of ``Same as `X`, in its neck``."""
    _, _, rest = heir.reason.partition(reference_of(heir.reason) or heir.reason)
    return rest.lstrip("`.,:; ")


def _is_same(one: Entry, other: Entry) -> bool:
    key = (one.table, one.scope, one.model_class)
    return key == (other.table, other.scope, other.model_class)


class _Span(NamedTuple):
    """Where a reason stands in a text, in characters from its start."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """What stands there."""
        return text[self.start : self.end]


def _reason_at(text: str, entry: Entry) -> _Span:
    """Where the reason of an entry stands, without parentheses around it."""
    node = _reason_node(_value_node(ast.parse(text), text, entry), entry)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return _Span(
        _offset(text, node.lineno, node.col_offset),
        _offset(text, node.end_lineno, node.end_col_offset),
    )


def _value_node(module: ast.Module, text: str, entry: Entry) -> ast.expr:
    wanted = _offset_of_place(text, entry)
    pairs = (
        pair
        for node in ast.walk(module)
        if isinstance(node, ast.Dict)
        for pair in zip(node.keys, node.values, strict=True)
    )
    return next(
        value
        for key, value in pairs
        if key is not None and _offset(text, key.lineno, key.col_offset) == wanted
    )


def _reason_node(value: ast.expr, entry: Entry) -> ast.expr:
    if not isinstance(value, ast.Call):
        return value
    names = [field.name for field in fields(entry.value)]
    given = dict(zip(names, value.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in value.keywords if keyword.arg}
    return given["reason"]


def _offset(text: str, line: int, column: int) -> int:
    """Characters before a place that ast gives, whose columns are bytes."""
    lines = text.split("\n")
    before = sum(len(one) + 1 for one in lines[: line - 1])
    return before + len(lines[line - 1].encode()[:column].decode())


def _offset_of_place(text: str, entry: Entry) -> int:
    lines = text.split("\n")
    return sum(len(one) + 1 for one in lines[: entry.line - 1]) + entry.column


def _replaced(text: str, span: _Span, reason: str, own_words: str) -> str:
    """`text` with another reason at a place.

    Args:
        text: The text.
        span: Where the reason stands.
        reason: String literals, as they are written.
        own_words: What follows them, in a literal of its own.
    """
    head, tail = text[: span.start], text[span.end :]
    line = head.rpartition("\n")[2]
    indent = line[: len(line) - len(line.lstrip())]
    inner = indent if line == indent else f"{indent}    "
    if own_words:
        reason = f"{reason}\n{inner}{json.dumps(f' {own_words}', ensure_ascii=False)}"
    if "\n" in reason and not head.rstrip().endswith("("):
        # Strings on several lines are one only within parentheses.
        reason = f"(\n{inner}{reason}\n{indent})"
    return head + reason + tail
