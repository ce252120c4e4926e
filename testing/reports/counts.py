"""What was done to how many cases: patches, lowerings, flags that were changed, baked-in reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from testing.faults import readable
from testing.results import CHANGED_FLAG, CaseResult

__all__ = ["counts"]

_CHANGED_FLAG = re.compile(rf"^{re.escape(CHANGED_FLAG)}(.*)\.$", re.MULTILINE)
# How a baked-in read ends that knows its line in the model.
_PLACE = re.compile(r" at (\S+:\d+)$")
_PLACES_SHOWN = 5


def counts(results: Sequence[CaseResult]) -> Iterator[str]:
    """Lines that tell each thing that was done with the number of its cases."""
    yield from _applied("patches", _by_case(result.patches for result in results))
    yield from _applied("lowerings", _by_case(result.lowerings for result in results))
    yield from _changed_flags(results)
    yield from _baked_reads(results)


def _applied(what: str, counted: Counter[str]) -> Iterator[str]:
    if counted:
        told = ", ".join(f"{name} to {_cases(count)}" for name, count in counted.most_common())
        yield readable(f"{what} applied: {told}")


def _changed_flags(results: Sequence[CaseResult]) -> Iterator[str]:
    flags = _by_case(_CHANGED_FLAG.findall(result.message or "") for result in results)
    for flag, count in flags.most_common():
        yield readable(f"{_cases(count)} run otherwise than transformers has it, with {flag}")


def _baked_reads(results: Sequence[CaseResult]) -> Iterator[str]:
    reading = [result for result in results if result.baked_reads]
    if not reading:
        return
    places = _by_case(map(_places, reading))
    told = [f"{place} {count}" for place, count in places.most_common(_PLACES_SHOWN)]
    rest = len(places) - len(told)
    told += [f"… and {rest} other place{'s' if rest > 1 else ''}"] if rest else []
    yield readable(
        f"values baked in while tracing: {_cases(len(reading))}, right unless fresh inputs fail: "
        + ", ".join(told)
    )


def _places(result: CaseResult) -> list[str]:
    """Where a case read values; ``aten::item of x`` where the line is not known."""
    found = [(_PLACE.search(read), read) for read in result.baked_reads]
    return [place.group(1) if place else read for place, read in found]


def _by_case(said: Iterable[list[str]]) -> Counter[str]:
    """In how many cases each thing is said; those of one case count once."""
    return Counter(thing for of_case in said for thing in dict.fromkeys(of_case))


def _cases(count: int) -> str:
    return f"{count} case{'' if count == 1 else 's'}"
