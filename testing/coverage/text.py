"""Coverage as a person reads it on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from testing.coverage.record import ClassRecord, Coverage
from testing.coverage.tables import area_rows, column_rows, facts
from testing.coverage.verdict import Kind
from testing.reports.tables import aligned

__all__ = ["details", "summary"]


def summary(coverage: Coverage) -> str:
    """Totals, then everything that somebody has to do something about."""
    tables = [aligned(rows) for rows in (area_rows(coverage), column_rows(coverage)) if rows]
    blocks = [*tables, "\n".join(facts(coverage)), *_findings(coverage)]
    return "\n\n".join(block for block in blocks if block)


def details(coverage: Coverage) -> str:
    """All that is known of each class."""
    return "\n\n".join("\n".join(_detail(record)) for record in coverage.records)


def _findings(coverage: Coverage) -> Iterator[str]:
    if coverage.unknown:
        yield _block("names that do not exist", map(str, coverage.unknown))
    if coverage.without_test:
        yield _block("without a test", map(_named, coverage.without_test))
    if coverage.stale:
        yield _block(
            "declared missing and work: delete their entries in testing/coverage/missing.py",
            map(_named, coverage.stale),
        )
    for kind in Kind:
        records = coverage.of_kind(kind)
        if records and kind is not Kind.COVERED:
            told = (f"{_named(record)}: {_message(record)}" for record in records)
            yield _block(kind.value, told)


def _block(title: str, lines: Iterator[str]) -> str:
    found = list(lines)
    return "\n".join([f"{title} ({len(found)})", *(f"  {line}" for line in found)])


def _named(record: ClassRecord) -> str:
    return f"{record.model_class} ({record.model_type})"


def _message(record: ClassRecord) -> str:
    found = (record.verdict.message if record.verdict else None) or ""
    return f"{record.known} [{found}]" if record.known else found


def _detail(record: ClassRecord) -> Iterator[str]:
    yield f"{record.model_class} ({record.model_type}, {record.area})"
    yield f"  test: {', '.join(record.tests) or 'none'}"
    if record.verdict:
        yield f"  tiny model: {record.verdict.kind.value}"
        yield from (f"    {line}" for line in _message(record).split("; ") if line)
    for name in ("inputs", "unused", "large", "parameters", "seconds"):
        if value := record.measured(name):
            yield f"  {name}: {_listed(value)}"
    for column, outcome in sorted(record.outcomes.items()):
        yield f"  {column}: {outcome.value}"
    for skip in record.skips:
        yield f"  {skip.scope} applies to {', '.join(skip.cases)}: {skip.reason}"


def _listed(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name} ({why})" for name, why in value.items())
    return ", ".join(value) if isinstance(value, (list, tuple)) else str(value)
