"""An audit of trace patches as the comment of a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from testing.audit.markdown import lines_of, ran_with, tables
from testing.patches.auditing import PatchedModel
from testing.patches.report import by_verdict, seen, totals
from testing.reports.markdown import cell

__all__ = ["comment"]

_HEAD = ("patch", "class", "verdict", "seen")


def comment(
    found: Sequence[PatchedModel], unused: Sequence[str], repeat: int, versions: Mapping[str, str]
) -> str:
    """What asks for an edit as a table, all else folded away.

    Args:
        found: What was found of each patch and model.
        unused: Patches that no model needs.
        repeat: How often each case was run.
        versions: What is installed.
    """
    ordered = by_verdict(found)
    findings = [_row(one) for one in ordered if one.is_finding]
    others = [_row(one) for one in ordered if not one.is_finding]
    blocks = ["### Audit of the trace patches", cell(totals(found)) + "."]
    blocks += [f"- `{name}`: no model needs it" for name in unused]
    blocks += tables(_HEAD, findings, "Nothing to edit", others)
    return "\n\n".join([*blocks, ran_with(repeat, versions)])


def _row(one: PatchedModel) -> Sequence[str]:
    names = f"`{one.patch}`", f"`{one.model_class}`"
    return *names, one.verdict.value, lines_of(seen(one))
