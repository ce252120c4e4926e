"""What a reason says of the failure, and whether a failure is that one.

A reason is prose; what is looked for in it is what the harness itself reports: ops, signals, types
of errors, and words that belong to one stage. A reason in which nothing is found fits every
failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
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
        r"|\b(with|given|on) other weights\b|\bstale weights\b"
    ),
}
# A package that lacks is seen as soon as anything is imported or built.
_BEFORE_EAGER: Final = frozenset({"import", "setup", "prepare"})
_OP: Final = re.compile(r"\b(?:aten|prim|prims|xla|torchvision|torch_xla|quantized)::\w+")
_SIGNAL: Final = re.compile(r"\bSIG[A-Z]{3,5}\b")
_ERROR: Final = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")
_MISSING: Final = frozenset({"ImportError", "ModuleNotFoundError"})
_SLOW: Final = re.compile(r"\btime[ds]?[ -]?out|\bhangs?\b|takes too long|\bnever ends\b|\bslow\b")
_SEEN_LATER: Final = re.compile(r"\bbaked\b|\b(fresh|traced) inputs\b|\bwith other weights\b")
_GUARDED: Final = "guard"


@dataclass(frozen=True)
class Cause:
    """What is told of a failure; an empty field tells nothing.

    Attributes:
        stages: Where it is seen.
        ops: The ops that are to blame.
        signals: How the process dies.
        errors: Types of the errors that are raised.
        is_slow: Whether it is the time that the case takes.
    """

    stages: frozenset[str] = frozenset()
    ops: frozenset[str] = frozenset()
    signals: frozenset[str] = frozenset()
    errors: frozenset[str] = frozenset()
    is_slow: bool = False

    @property
    def is_told(self) -> bool:
        """Whether anything is told at all."""
        return self != Cause()

    @classmethod
    def of_text(cls, text: str) -> Cause:
        """What a reason tells."""
        ops, signals = frozenset(_OP.findall(text)), frozenset(_SIGNAL.findall(text))
        stages = stages_named(text)
        if (ops or signals) and not stages:
            # An op that has no lowering, and a process that dies, are seen while exporting.
            stages = frozenset({"export"})
        if _SEEN_LATER.search(text):
            # It happens while tracing, and is seen in what is compared.
            stages -= {"export"}
        errors = frozenset(_ERROR.findall(text))
        return cls(stages, ops, signals, errors, bool(_SLOW.search(text)))

    def differences(self, result: CaseResult) -> Iterator[str]:
        """In what a failure is another than this one."""
        is_late = result.outcome is Outcome.TIMEOUT
        if self.is_told and is_late != self.is_slow and not (self.is_slow and self.stages):
            yield "the time limit" if is_late else "not the time limit"
        elif self.stages and result.stage not in self.stages and not is_late:
            yield f"stage {result.stage}, not {_either(self.stages)}"
        found = _ops_of(result)
        if self.ops and not self.ops & found and (found or _is_raised_in_trace(result)):
            yield f"{', '.join(sorted(found)) or 'no op'}, not {_either(self.ops)}"
        if self.signals and not self._dies_so(result):
            yield f"{result.signal or 'no signal'}, not {_either(self.signals)}"
        if error := self._other_error(result):
            yield error

    def _dies_so(self, result: CaseResult) -> bool:
        # The guard raises where the process would have died.
        return result.signal in self.signals or result.op_source == _GUARDED

    def _other_error(self, result: CaseResult) -> str | None:
        """Another type of error than the ones that are told, or a package that lacks."""
        raised = _ERROR.match(result.message or "")
        if raised is None or raised[0] in self.errors or self.ops & _ops_of(result):
            return None
        if self.errors:
            return f"{raised[0]}, not {_either(self.errors)}"
        is_expected = not self.is_told or "import" in self.stages
        return None if is_expected or raised[0] not in _MISSING else raised[0]


def recorded_cause(entry: Entry, entries: Iterable[Entry]) -> Cause:
    """What the reason of an entry tells; ``Same as `X`.`` tells what that of X does."""
    text = _whole_reason(entry, tuple(entries), frozenset({entry}))
    cause = Cause.of_text(text)
    stages = cause.stages
    if entry.is_of_figures:
        # It excuses nothing else, whatever op its reason names.
        stages = frozenset({"compare"})
    kind = entry.value.kind if isinstance(entry.value, Skip) else None
    if kind == "needs-package":
        stages = stages | _BEFORE_EAGER
    return replace(cause, stages=stages, is_slow=cause.is_slow or kind == "slow")


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
    # What was baked in need not be to blame; where it is, the message says so.
    return frozenset(_OP.findall(f"{result.op} {result.message}"))


def _is_raised_in_trace(result: CaseResult) -> bool:
    """Whether Python raised while tracing; of a process that died the op may be unknown."""
    return result.outcome is Outcome.FAILED and result.stage == "export"


def _either(names: Iterable[str]) -> str:
    return " or ".join(sorted(names))
