"""How many model classes are traced, and match eager: unpatched, as upstream, and with everything.

Run it from the repository's root: ``python benchmarks/reach.py [--shard I/N] [--workers N]``.
Counted are the classes of the installed transformers whose tiny model runs in eager, each as a
static case in a child of its own. ``skips.py`` is not read for it: no case is skipped, no figure
excused and no tolerance relaxed. A class whose flags were changed counts as not reached. What was
run is kept in a journal, so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from exporters import get_backend  # noqa: E402
from testing import auto_classes  # noqa: E402
from testing.audit.journal import AttemptJournal, Key, digest_of, versions_here  # noqa: E402
from testing.audit.tiny_host import TinyHost  # noqa: E402
from testing.cases import ExportCase  # noqa: E402
from testing.coverage.declared import DEFAULT_TESTS  # noqa: E402
from testing.execution import execute  # noqa: E402
from testing.parallel import run_all  # noqa: E402
from testing.registry import Registry, Tolerance  # noqa: E402
from testing.reports.tables import aligned  # noqa: E402
from testing.reports.wording import headline  # noqa: E402
from testing.results import CHANGED_FLAG, PROVES_NOTHING, CaseResult, Outcome  # noqa: E402
from testing.settings import CaseRequest, RunSettings  # noqa: E402
from testing.shards import Shard  # noqa: E402

BACKEND = get_backend("neuron")
RUNTIME = "xla"
TRACED = ("run", "compare")
"""Stages that only a case reaches whose export came to its end."""


@dataclass(frozen=True)
class Way:
    """How cases are exported, in the words of the options."""

    patches: str
    lowerings: str
    guard: str


WAYS: Mapping[str, Way] = {
    "unpatched": Way("off", "off", "off"),
    "upstream patches": Way("weight_norm,yolos,convbert", "off", "off"),
    "everything": Way("on", "on", "on"),
}
BEST = "everything"
HEADER = ("", "classes", "traced", "", "match eager", "", "flags changed", "prove nothing")


@dataclass(frozen=True)
class Share:
    """What of one way is reached.

    Attributes:
        classes: Classes whose eager forward works.
        traced: Those that are traced.
        matched: Those that match eager on fresh inputs.
        changed: Those whose flags were changed, which count as neither.
        empty: Those among the matched whose outputs prove nothing.
    """

    classes: int
    traced: int
    matched: int
    changed: int
    empty: int


def main() -> None:
    options = _options()
    names = sorted(n for n in auto_classes.known_classes() if options.shard.holds(n))
    results = measure(names, options)
    working = tuple(name for name in names if works(results[name].values()))
    shares = {way: share([results[name][way] for name in working]) for way in WAYS}
    left = {name: results[name][BEST] for name in working if not is_matched(results[name][BEST])}
    undeclared = sorted(without_entry(left, Registry.load()))
    write = as_json if options.json else as_text
    sys.stdout.write(write(shares, left, undeclared))


def measure(
    names: Sequence[str], options: argparse.Namespace
) -> Mapping[str, Mapping[str, CaseResult]]:
    """The result of each class in each way; what the journal has is not run again."""
    journal = AttemptJournal(options.journal, Key.here(DEFAULT_TESTS))
    known = journal.read()
    requests = {name: {w: request_of(name, how) for w, how in WAYS.items()} for name in names}
    asked = [request for ways in requests.values() for request in ways.values()]
    missing = [request for request in asked if digest_of(request) not in known]
    ran = run_all(missing, options.workers, lambda: nullcontext(execute))
    for number, (request, result) in enumerate(ran, start=1):
        journal.append(request, result)
        known[digest_of(request)] = result
        told = f"[{number}/{len(missing)}] {result.model_class}: {result.outcome.value}\n"
        sys.stderr.write(told)
    return {
        name: {way: known[digest_of(request)] for way, request in ways.items()}
        for name, ways in requests.items()
    }


def request_of(name: str, way: Way) -> CaseRequest:
    """The static case of a class with the backend's own tolerance, whatever its entries are."""
    static = next(v for v in BACKEND.variants if not (v.dynamic or v.generate))
    kind = auto_classes.model_type_of(name)
    case = replace(ExportCase.of(name, kind, BACKEND, static), runtime=RUNTIME)
    tolerance = BACKEND.tolerance(RUNTIME)
    settings = settings_of(way)
    return CaseRequest(
        case=case,
        case_id=name,
        module=TinyHost.__module__,
        path=str(ROOT / "testing" / "audit" / "tiny_host.py"),
        test_class=TinyHost.__qualname__,
        test_method="runTest",
        tolerance=Tolerance(tolerance, tolerance),
        settings=settings,
        timeout=300.0,
        guard=settings.lowering_guard,
    )


def settings_of(way: Way) -> RunSettings:
    """The options of a run that exports cases in this way."""
    return RunSettings(
        trace_patches=way.patches,
        lowerings=way.lowerings,
        lowering_guard=way.guard == "on",
        isolate="always",
        run_skipped=True,
        slow=True,
    )


def works(results: Iterable[CaseResult]) -> bool:
    """Whether the eager forward of a class works: some way of exporting it has begun."""
    return any(result.stage in ("export", *TRACED) for result in results)


def share(results: Sequence[CaseResult]) -> Share:
    """What is reached of classes that work in eager."""
    matched = [result for result in results if is_matched(result)]
    return Share(
        classes=len(results),
        traced=sum(is_traced(result) for result in results),
        matched=len(matched),
        changed=sum(_has(result, CHANGED_FLAG) for result in results),
        empty=sum(_has(result, PROVES_NOTHING) for result in matched),
    )


def is_traced(result: CaseResult) -> bool:
    """Whether the trace neither died nor raised, of the model as transformers has it."""
    return result.stage in TRACED and not _has(result, CHANGED_FLAG)


def is_matched(result: CaseResult) -> bool:
    """Whether it equals eager on the traced and on fresh inputs as well."""
    return result.outcome is Outcome.PASSED and is_traced(result)


def without_entry(left: Iterable[str], registry: Registry) -> Iterator[str]:
    """The classes of which ``skips.py`` says nothing that applies to their static case."""
    for name in left:
        request = request_of(name, WAYS[BEST])
        entries = (registry.skip_for(request.case), registry.exactness_for(request.case))
        relaxed = registry.tolerance_for(request.case, request.tolerance.atol)
        if entries == (None, None) and relaxed == request.tolerance:
            yield name


def as_text(
    shares: Mapping[str, Share], left: Mapping[str, CaseResult], undeclared: Sequence[str]
) -> str:
    """The shares side by side, and what is left with everything on."""
    rows = [HEADER, *(_row(way, found) for way, found in shares.items())]
    causes = Counter(_cause(result) for result in left.values())
    lines = [
        aligned(rows),
        "",
        f"not reached with everything: {len(left)}, of which {len(undeclared)} have no entry",
        *(f"  {count} {cause}" for cause, count in causes.most_common()),
    ]
    lines += [f"no entry: {name}: {headline(left[name])}" for name in undeclared]
    versions = ", ".join(f"{name} {version}" for name, version in versions_here().items())
    return "\n".join([*lines, versions]) + "\n"


def as_json(
    shares: Mapping[str, Share], left: Mapping[str, CaseResult], undeclared: Sequence[str]
) -> str:
    """The same for a program."""
    found = {
        "versions": versions_here(),
        "shares": {way: vars(one) for way, one in shares.items()},
        "left": {name: headline(result) for name, result in left.items()},
        "without_entry": list(undeclared),
    }
    return json.dumps(found, indent=2) + "\n"


def _row(way: str, found: Share) -> tuple[str, ...]:
    percent = partial(_percent, whole=found.classes)
    return (
        way,
        str(found.classes),
        str(found.traced),
        percent(found.traced),
        str(found.matched),
        percent(found.matched),
        str(found.changed),
        str(found.empty),
    )


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"


def _cause(result: CaseResult) -> str:
    """Few words by which what is left can be counted."""
    if _has(result, CHANGED_FLAG):
        return "flags changed"
    return f"{result.outcome.value} at {result.stage}{f': {result.op}' if result.op else ''}"


def _has(result: CaseResult, mark: str) -> bool:
    return mark in (result.message or "")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--shard", type=Shard.parse, default=Shard(1, 1), metavar="I/N")
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--workers", type=int, default=cores, metavar="N")
    default = Path("build", "reach", "attempts.jsonl")
    parser.add_argument("--journal", type=Path, default=default, metavar="FILE")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
