"""Coverage as the page that is committed: in fixed order, and without times of the run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from testing.coverage.record import ClassRecord, Coverage
from testing.coverage.tables import area_rows, column_rows, facts
from testing.coverage.verdict import Kind
from testing.reports.tables import piped

__all__ = ["escaped", "page"]

_HEADINGS = {
    Kind.NO_TINY_MODEL: "No tiny model",
    Kind.EAGER_FAILS: "Eager fails",
    Kind.PROBLEMS: "Problems",
    Kind.CRASHED: "Crashed",
    Kind.TIMED_OUT: "Timed out",
    Kind.IMPOSSIBLE: "Impossible",
    Kind.NEEDS_PACKAGE: "Needs a package",
    Kind.TAMED: "Tamed: a flag is not transformers' default",
}


def page(coverage: Coverage) -> str:
    """The whole page."""
    versions = ", ".join(f"{name} {version}" for name, version in coverage.versions.items())
    blocks = [
        f"# Coverage\n\nMade by `export-harness coverage --markdown`: {versions}.",
        "\n".join(f"- {fact}" for fact in facts(coverage)),
        f"## Model classes\n\n{piped(area_rows(coverage))}",
        *_exports(coverage),
        *_sections(coverage),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _exports(coverage: Coverage) -> Iterator[str]:
    if rows := column_rows(coverage):
        yield f"## Exports\n\n{piped(rows)}"


def _sections(coverage: Coverage) -> Iterator[str]:
    yield from _section("Names that do not exist", (f"- {name}" for name in coverage.unknown))
    yield from _section("Without a test", map(_item, coverage.without_test))
    for kind, heading in _HEADINGS.items():
        told = ((record, record.verdict) for record in coverage.of_kind(kind))
        lines = (
            _item(record, record.known or (verdict.message if verdict else None))
            for record, verdict in told
        )
        yield from _section(heading, lines)
    large = ((record, record.measured("large")) for record in coverage.records)
    yield from _section("Large", (_item(record, why) for record, why in large if why))


def _section(heading: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield f"## {heading} ({len(found)})\n\n" + "\n".join(found)


def _item(record: ClassRecord, why: str | None = None) -> str:
    told = f": {escaped(why)}" if why else ""
    return f"- `{record.model_class}` ({record.model_type}){told}"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is; underscores within words are no emphasis."""
    return re.sub(r"[\\<>*`]|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)
