"""What is done, or is to be done, about an op."""

from __future__ import annotations

from exporters.base import OpStatus, OpUse

__all__ = ["advice"]


def advice(use: OpUse) -> str:
    """One sentence for the person who has to do it."""
    if use.message:
        return f"{use.message}; in eager it works: write a lowering or a trace patch"
    if use.is_fatal:
        return "kills the process: write a lowering or a trace patch (--sketch)"
    if use.remedy and use.status in _DONE:
        return _DONE[use.status].format(use.remedy)
    return _KNOWN.get(use.status, "")


_DONE = {
    OpStatus.LOWERED_BY_US: "lowering {}",
    OpStatus.FOLDED: "computed from the weights before the program ({})",
    OpStatus.PATCHED: "trace patch {}",
    OpStatus.GENERAL_BRANCH: "the branch for any mask is in the graph ({})",
    OpStatus.READ: "fixed in the graph as it is for the traced inputs ({})",
}
_KNOWN = {
    OpStatus.READ: "fixed in the graph as it is for the traced inputs",
    OpStatus.ON_ACTIVATION: "slow, and a constant in the graph; a lowering would mend it",
}
