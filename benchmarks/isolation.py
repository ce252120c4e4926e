"""What isolation costs: the same cases in children, in one process, and one process per case.

Run it from the repository's root: ``python benchmarks/isolation.py [--classes N] [--sample N]``.
All three run in one go and alternate case by case, so that a busy machine slows all of them.
Reported are ratios of rates; they mean more than the rates, which are this machine's. The ratios
of processor time stand beside those of elapsed time: other work on the machine moves them less.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from exporters import get_backend  # noqa: E402
from testing import auto_classes  # noqa: E402
from testing.cases import ExportCase  # noqa: E402
from testing.execution import runner  # noqa: E402
from testing.isolation import ForkServer, Task  # noqa: E402
from testing.registry.entries import Tolerance  # noqa: E402
from testing.results import CaseResult, Outcome  # noqa: E402
from testing.settings import CaseRequest, RunSettings  # noqa: E402

BACKEND = "neuron"
ITEM = re.compile(r"^(?P<file>\S+\.py)::(?P<host>\w+)::(?P<test>test_neuron_export_static_(\w+))$")


@dataclass(frozen=True)
class Item:
    """One case as pytest collects it."""

    node_id: str
    model_type: str
    request: CaseRequest


class Cost(NamedTuple):
    """Seconds of elapsed and of processor time."""

    elapsed: float
    processor: float


@dataclass(frozen=True)
class Timing:
    """What one case costs in each way; None where a way was not sampled."""

    item: Item
    isolated: Cost
    in_process: Cost
    alone: Cost | None


def nothing(payload: object, report: object) -> None:
    """What a child does when only the server is meant."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    collected = _collected(options.tests)
    items = _chosen(collected, options.classes, options.types)
    if not items:
        _say(f"no static neuron case is collected from {options.tests}")
        return 2
    sampled = _spread(items, options.sample)
    # Children use one thread of torch's; this process must not use more.
    os.environ["OMP_NUM_THREADS"] = "1"
    _warm_up(next((item for item in collected if item not in items), items[0]))
    _say(_row("model type", "class", "isolated s", "in-process s", "process/case s"))
    timings = [_timed(item, item in sampled) for item in items]
    _report(timings)
    runner.close_servers()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", default="tests/models", help="where the cases are collected")
    parser.add_argument("--types", default="", help="model types, comma-separated (default: all)")
    parser.add_argument("--classes", type=int, default=1, help="classes per model type")
    parser.add_argument("--sample", type=int, default=8, help="cases that get a process each")
    return parser


def _collected(tests: str) -> list[Item]:
    """The static cases of the neuron backend, found as pytest finds them."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        tests,
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    matches = filter(None, map(ITEM.match, listed.stdout.splitlines()))
    return [_item(match) for match in matches]


def _item(match: re.Match[str]) -> Item:
    model_class = match["test"].removeprefix("test_neuron_export_static_")
    model_type = auto_classes.model_type_of(model_class) or model_class
    backend = get_backend(BACKEND)
    runtime = backend.resolve_runtime()
    tolerance = backend.tolerance(runtime)
    request = CaseRequest(
        case=ExportCase(model_class, model_type, BACKEND, runtime=runtime),
        case_id=match[0],
        module=match["file"].removesuffix(".py").replace("/", "."),
        path=str(ROOT / match["file"]),
        test_class=match["host"],
        test_method=match["test"],
        tolerance=Tolerance(tolerance, tolerance),
        settings=RunSettings(),
    )
    return Item(match[0], model_type, request)


def _chosen(items: Iterable[Item], classes: int, types: str) -> list[Item]:
    """The first `classes` cases of each model type, of those that are asked for."""
    wanted = set(filter(None, types.split(",")))
    by_type: dict[str, list[Item]] = {}
    for item in items:
        if not wanted or item.model_type in wanted:
            by_type.setdefault(item.model_type, []).append(item)
    return [item for of_type in by_type.values() for item in of_type[:classes]]


def _spread(items: Sequence[Item], count: int) -> list[Item]:
    """`count` of the items, at even distances."""
    step = max(1, len(items) // max(1, count))
    return list(items[::step][:count]) if count else []


def _warm_up(item: Item) -> None:
    """Imports and the runtime's start are paid once, on a case that is not timed."""
    for isolate in ("always", "never"):
        _run(item, isolate)


def _timed(item: Item, with_process: bool) -> Timing:
    _import_model(item)
    isolated_first = len(item.node_id) % 2 == 0
    costs: dict[str, Cost] = {}
    # Neither way is always the second one, which finds the files in the page cache.
    for isolate in ("always", "never") if isolated_first else ("never", "always"):
        costs[isolate] = _cost(item, partial(_run, item, isolate))
    alone = _cost(item, partial(_run_process, item)) if with_process else None
    timing = Timing(item, costs["always"], costs["never"], alone)
    _say(_row(item.model_type, item.request.case.model_class, *_figures(timing)))
    return timing


def _figures(timing: Timing) -> list[str]:
    costs = (timing.isolated, timing.in_process, timing.alone)
    return [f"{cost.elapsed:.2f}" if cost else "-" for cost in costs]


def _import_model(item: Item) -> None:
    """Import the model's module on both sides, which each does once per model type."""
    modules = runner.modules_of(item.request)
    _server_of(item).run(Task("isolation_benchmark:nothing", path=__file__, modules=modules))
    for module in modules:
        importlib.import_module(module.name)


def _server_of(item: Item) -> ForkServer:
    """The fork server that runs the item's case."""
    return runner.server_of(get_backend(BACKEND), item.request.case.runtime)


def _cost(item: Item, action: Callable[[], object]) -> Cost:
    start, used = time.monotonic(), _processor_seconds(item)
    action()
    return Cost(time.monotonic() - start, _processor_seconds(item) - used)


def _processor_seconds(item: Item) -> float:
    """Of this process, of what it has waited for, and of the fork server and its children."""
    own = sum(os.times()[:4])
    server = _server_of(item).pid
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    return own + sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _run(item: Item, isolate: str) -> None:
    settings = replace(item.request.settings, isolate=isolate)
    _check(item, runner.execute(replace(item.request, settings=settings)))


def _check(item: Item, result: CaseResult) -> None:
    """A case that ends early would make its way look fast."""
    if result.outcome is not Outcome.PASSED:
        _say(f"  {item.request.case.model_class}: {result.outcome.value}: {result.message}")


def _run_process(item: Item) -> None:
    """Run pytest on one case, without a fork server, which would only make it slower."""
    command = [sys.executable, "-m", "pytest", "-q", item.node_id, "--backend", BACKEND]
    command += ["--isolate", "never", "--slow", "-p", "no:cacheprovider"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ended.returncode:
        _say(f"  {item.node_id} ended with status {ended.returncode}: {ended.stdout[-300:]}")


def _report(timings: Sequence[Timing]) -> None:
    isolated = [timing.isolated for timing in timings]
    in_process = [timing.in_process for timing in timings]
    _say(f"\n{len(timings)} cases; everything is imported before a case is timed")
    _say(f"isolated          {_rate(isolated):7.1f} cases/minute")
    _say(f"in process        {_rate(in_process):7.1f} cases/minute")
    _say(f"isolated / in-process rate: {_ratio(in_process, isolated)} (target: 0.90)")
    lost = [
        ours.elapsed - theirs.elapsed for ours, theirs in zip(isolated, in_process, strict=True)
    ]
    _say(f"isolation adds {1000 * statistics.median(lost):.0f} ms to a case (median)")
    _report_sample([timing for timing in timings if timing.alone])
    _say("In one process XLA's caches stay warm from case to case; in children they cannot.")


def _report_sample(sample: Sequence[Timing]) -> None:
    alone = [timing.alone for timing in sample if timing.alone]
    if not alone:
        return
    names = ", ".join(timing.item.model_type for timing in sample)
    _say(f"process per case  {_rate(alone):7.1f} cases/minute (a sample of {len(alone)}: {names})")
    isolated = [timing.isolated for timing in sample]
    _say(f"isolated / process-per-case rate: {_ratio(alone, isolated)} on it (target: 5)")


def _rate(costs: Sequence[Cost]) -> float:
    return 60 * len(costs) / sum(cost.elapsed for cost in costs)


def _ratio(slow: Sequence[Cost], fast: Sequence[Cost]) -> str:
    elapsed = sum(cost.elapsed for cost in slow) / sum(cost.elapsed for cost in fast)
    processor = sum(cost.processor for cost in slow) / sum(cost.processor for cost in fast)
    return f"{elapsed:.2f}, by processor time {processor:.2f}"


def _row(model_type: str, model_class: str, *values: str) -> str:
    return f"{model_type:32}{model_class:44}" + "".join(f"{value:>16}" for value in values)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
