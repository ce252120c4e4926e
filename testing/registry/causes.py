"""What a reason says of the failure, and whether a failure is that one.

A reason is prose; what is looked for in it is what the harness itself reports: ops, signals, and
words that belong to one stage. A reason in which nothing is found fits every failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from testing.registry.entries import Skip
from testing.registry.references import holders, reference_of
from testing.registry.skip_file import Entry
from testing.results import CaseResult, Outcome

__all__ = ["Cause", "recorded_cause", "stages_named"]

# A word is of the stage in which its failure is seen; `run` and `compare` are words of prose too
# often to be taken for stages unless they are written as the harness writes them.
_STAGE_WORDS: Final[Mapping[str, str]] = {
    "import": r"cannot be imported|ImportError|ModuleNotFoundError|not installed|needs a package",
    "prepare": r"at `?prepare`?|stage '?prepare|no tiny model|cannot be built",
    "eager": r"at `?eager`?|stage '?eager|eager (disagrees|fails|raises|itself)",
    "export": r"\bexport(s|ed|ing)?\b|\btrac(e|es|ed|ing)\b|\blower(ing|ed)?\b|\bcompil\w+",
    "run": r"at `?run`?\b|stage '?run\b|when (it is )?run\b|at run ?time|on execution",
    "compare": (
        r"at `?compare`?\b|stage '?compare|\bdrift\w*|\bbaked\b|fresh inputs|\boff by\b"
        r"|\bmismatch\w*|\bdiffer\w*|\bmax abs\b|\btolerance\b|\binaccura\w+|wrong (value|number)"
        r"|\bother weights\b"
    ),
}
# A package that lacks is seen as soon as anything is imported or built.
_BEFORE_EAGER: Final = frozenset({"import", "setup", "prepare"})
_OP: Final = re.compile(r"\b(?:aten|prim|prims|xla|torchvision|torch_xla|quantized)::\w+")
_SIGNAL: Final = re.compile(r"\bSIG[A-Z]{3,5}\b")
_SLOW: Final = re.compile(r"\btime[ds]?[ -]?out|\bhangs?\b|takes too long|\bnever ends\b|\bslow\b")
_BAKED: Final = re.compile(r"\bbaked\b|\bfresh inputs\b")
_GUARDED: Final = "guard"


@dataclass(frozen=True)
class Cause:
    """What is told of a failure; an empty field tells nothing.

    Attributes:
        stages: Where it is seen.
        ops: The ops that are to blame.
        signals: How the process dies.
        is_slow: Whether it is the time that the case takes.
    """

    stages: frozenset[str] = frozenset()
    ops: frozenset[str] = frozenset()
    signals: frozenset[str] = frozenset()
    is_slow: bool = False

    @classmethod
    def of_text(cls, text: str) -> Cause:
        """What a reason tells."""
        ops, signals = frozenset(_OP.findall(text)), frozenset(_SIGNAL.findall(text))
        stages = stages_named(text)
        if (ops or signals) and not stages:
            # An op that has no lowering, and a process that dies, are seen while exporting.
            stages = frozenset({"export"})
        if _BAKED.search(text):
            # It happens while tracing, and is seen on fresh inputs.
            stages -= {"export"}
        return cls(stages, ops, signals, bool(_SLOW.search(text)))

    def differences(self, result: CaseResult) -> Iterator[str]:
        """In what a failure is another than this one."""
        is_late = result.outcome is Outcome.TIMEOUT
        is_told = bool(self.stages or self.ops or self.signals or self.is_slow)
        if is_told and is_late != self.is_slow and not (self.is_slow and self.stages):
            yield "the time limit" if is_late else "not the time limit"
        elif self.stages and result.stage not in self.stages and not is_late:
            yield f"stage {result.stage}, not {' or '.join(sorted(self.stages))}"
        found = _ops_of(result)
        if self.ops and found and not self.ops & found:
            yield f"{', '.join(sorted(found))}, not {', '.join(sorted(self.ops))}"
        if self.signals and not self._dies_so(result):
            yield f"{result.signal or 'no signal'}, not {', '.join(sorted(self.signals))}"

    def _dies_so(self, result: CaseResult) -> bool:
        # The guard raises where the process would have died.
        return result.signal in self.signals or result.op_source == _GUARDED


def recorded_cause(entry: Entry, entries: Iterable[Entry]) -> Cause:
    """What the reason of an entry tells; ``Same as `X`.`` tells what that of X does."""
    text = _whole_reason(entry, tuple(entries), frozenset({entry}))
    cause = Cause.of_text(text)
    stages = cause.stages
    if entry.scope.is_exactness and not stages:
        stages = frozenset({"compare"})
    kind = entry.value.kind if isinstance(entry.value, Skip) else None
    if kind == "needs-package":
        stages = stages | _BEFORE_EAGER
    return Cause(stages, cause.ops, cause.signals, cause.is_slow or kind == "slow")


def stages_named(text: str) -> frozenset[str]:
    """The stages that the words of a text belong to."""
    words = _STAGE_WORDS.items()
    return frozenset(stage for stage, pattern in words if re.search(pattern, text, re.IGNORECASE))


def _whole_reason(entry: Entry, entries: tuple[Entry, ...], seen: frozenset[Entry]) -> str:
    """The reason of an entry, and of that to which it refers."""
    name = reference_of(entry.reason)
    if name is None:
        return entry.reason
    found = (other for other in holders(entry, name, entries) if other not in seen)
    holder = next(found, None)
    if holder is None:
        return entry.reason
    return f"{entry.reason} {_whole_reason(holder, entries, seen | {holder})}"


def _ops_of(result: CaseResult) -> frozenset[str]:
    told = [result.op or "", result.message or "", *result.baked_reads]
    return frozenset(op for text in told for op in _OP.findall(text))
