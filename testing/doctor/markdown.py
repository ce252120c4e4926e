"""Findings on every class as the page that is committed: op by op, and in which families."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from exporters.base import OpStatus
from testing.coverage.markdown import escaped
from testing.doctor.findings import Findings
from testing.reports.tables import piped

__all__ = ["page"]

_FAMILIES = 12
_TEXTS = 5


def page(found: Sequence[Findings], versions: Mapping[str, str]) -> str:
    """The whole page.

    Args:
        found: What was found of each class.
        versions: What was installed.
    """
    installed = ", ".join(f"{name} {version}" for name, version in versions.items())
    examined = [one for one in found if not one.obstacle]
    failing = [one for one in examined if one.fails]
    blocks = [
        f"# Lowering\n\nMade by `export-harness doctor --all`: {installed}.",
        f"{len(examined)} model classes were examined: {len(examined) - len(failing)} trace, "
        f"{len(failing)} do not, {len(found) - len(examined)} could not be examined.",
        f"## Ops\n\n{_legend()}\n\n{piped(list(_rows(examined)), _TEXTS)}",
        *_section("Classes that do not trace", map(_failure, failing)),
        *_section("Not examined", (_item(one, one.obstacle) for one in found if one.obstacle)),
    ]
    return "\n\n".join(block.strip() for block in blocks) + "\n"


def _legend() -> str:
    return (
        "Each op that XLA does not simply lower, what becomes of it, what its operands derive "
        "from, and in how many classes of which model types. What falls back on a weight, or on "
        "a value that derives from one, kills the process; what falls back on an activation is "
        "slow and a constant in the graph."
    )


def _rows(found: Iterable[Findings]) -> Iterator[tuple[str, ...]]:
    yield ("op", "status", "operand", "by", "model types", "classes")
    families: dict[tuple[str, ...], Counter[str]] = {}
    for one in found:
        # Once a class, however often it runs the op.
        keys: set[tuple[str, ...]] = {
            (u.op, u.status.value, u.kind or "", u.remedy or "") for u in one.marked
        }
        for key in keys:
            families.setdefault(key, Counter())[one.model_type or one.model] += 1
    for key, counted in sorted(families.items(), key=_order):
        yield (f"`{key[0]}`", *key[1:], _listed(counted), str(counted.total()))


def _order(item: tuple[tuple[str, ...], Counter[str]]) -> tuple[object, ...]:
    (op, status, *rest), counted = item
    places = [one.value for one in OpStatus]
    return -places.index(status), -counted.total(), op, rest


def _listed(counted: Counter[str]) -> str:
    common = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{name} {count}" for name, count in common[:_FAMILIES]]
    left = len(common) - _FAMILIES
    return ", ".join(shown) + (f" and {left} more" if left > 0 else "")


def _section(heading: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield f"## {heading} ({len(found)})\n\n" + "\n".join(found)


def _failure(one: Findings) -> str:
    fatal = dict.fromkeys(f"{u.op} at {u.source}" for u in one.uses if u.is_fatal)
    causes = [*fatal, *([f"{one.error} ({one.source})"] if one.error else [])]
    return _item(one, "; ".join(causes))


def _item(one: Findings, why: str | None) -> str:
    text = " ".join((why or "").split())
    return f"- `{one.model}` ({one.model_type}): {escaped(text)}"
