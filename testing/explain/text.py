"""Entries and explanations as a person reads them on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

from testing.explain.explanation import Explanation, VariantAnswer
from testing.explain.history import History
from testing.registry.audits import OTHER_CAUSE, AuditFinding
from testing.registry.skip_file import Entry

__all__ = ["explanation_text", "list_text"]

_WIDTH = 92
_LIST_REASON = 60
_NO_CASE = "no backend that was asked for exports anything here"


def explanation_text(explanation: Explanation, path: Path) -> str:
    """The variants, then each entry with its reason, age and last audit."""
    numbers = {h.entry: i for i, h in enumerate(explanation.histories, start=1)}
    rows = [_row(variant, numbers) for variant in explanation.variants] or [(_NO_CASE,)]
    blocks = [[explanation.model_class, *_aligned(rows)]]
    blocks += [list(_entry(h, numbers[h.entry], path)) for h in explanation.histories]
    if not explanation.histories:
        blocks.append([f"{path} has no entry for it"])
    return "\n\n".join("\n".join(lines) for lines in blocks)


def list_text(histories: Iterable[History], path: Path) -> str:
    """An entry a line: where, scope, class, kind, since when, and how its reason begins."""
    found = list(histories)
    lines = _aligned([_list_row(history, path) for history in found])
    noun = "entry" if len(found) == 1 else "entries"
    return "\n".join([*lines, f"{len(found)} {noun}"])


def _row(variant: VariantAnswer, numbers: dict[Entry, int]) -> tuple[str, ...]:
    named = ", ".join(str(numbers[entry]) for entry in variant.entries)
    return variant.label, variant.verdict, f"entries {named}" if named else ""


def _list_row(history: History, path: Path) -> tuple[str, ...]:
    entry = history.entry
    reason = " ".join(entry.reason.split())
    short = reason if len(reason) <= _LIST_REASON else f"{reason[: _LIST_REASON - 1]}…"
    since = str(history.since.date) if history.since else "-"
    kind = getattr(entry.value, "kind", "tolerance")
    return f"{path}:{entry.line}", entry.where, entry.model_class, kind, since, short


def _entry(history: History, number: int, path: Path) -> Iterator[str]:
    entry = history.entry
    yield f'{number}. {entry.table}["{entry.scope}"], {path}:{entry.line}'
    yield from _wrapped(entry.reason)
    if history.cause:
        cause = history.cause
        yield from _wrapped(f"{cause.model_class}, {path}:{cause.line}: {cause.reason}")
    yield from (f"   {name}: {value}" for name, value in _facts(history))
    yield from _audit(history.audit)


def _facts(history: History) -> Iterator[tuple[str, str]]:
    value = history.entry.value
    for name in ("kind", "issue", "until", "component"):
        if given := getattr(value, name, None):
            yield name, str(given)
    if value.when:
        yield "when", f"{value.when}, which {'holds' if history.holds else 'does not hold'} here"
    yield "since", str(history.since) if history.since else "not known to git"


def _audit(finding: AuditFinding | None) -> Iterator[str]:
    """What an audit found, in lines of its own, with what was installed and asked for."""
    if finding is None:
        yield "   last audit: none"
        return
    proposed = f" ({finding.proposed_scope} would do)" if finding.proposed_scope else ""
    yield f"   last audit: {finding.finished} {finding.verdict}{proposed}"
    changes = [f"{OTHER_CAUSE}: {change}" for change in finding.changes]
    for line in [*finding.message.splitlines(), *changes, *_circumstances(finding)]:
        yield from wrap(line, _WIDTH, initial_indent="     ", subsequent_indent="       ")


def _circumstances(finding: AuditFinding) -> Iterator[str]:
    """What was installed, and the options."""
    options = [_option(name, value) for name, value in finding.settings.items()]
    installed = [f"{name} {version}" for name, version in finding.versions.items()]
    if told := [*installed, *options]:
        yield f"with {', '.join(told)}"


def _option(name: str, value: Any) -> str:
    word = ("on" if value else "off") if isinstance(value, bool) else value
    return f"--{name.replace('_', '-')} {word}"


def _wrapped(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from wrap(line, _WIDTH, initial_indent="   ", subsequent_indent="   ")


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
