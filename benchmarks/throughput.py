"""What a run costs besides its models: cases per minute, overhead a case, and how both grow.

Run it from the repository's root: ``python benchmarks/throughput.py [--cases N]``. The cases do
nothing, so that all of their time is the harness's: in a child each, in one process, and in
children of two workers. With ``--sweep TYPES`` it also runs real models with one worker and with
two. On a busy machine only the ratios mean something.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOOP = ("benchmarks/noop_cases.py", "-p", "tests.testing.faults_backend.backend")
NOOP_OPTIONS = ("--backend", "faults", "-p", "no:hypothesispytest")
EARLY = 100
"""From this case on all is warm, and growth counts."""
STEP = 0.05


@dataclass(frozen=True)
class Session:
    """One session as it was seen from outside.

    Attributes:
        seconds: Time of each case, in the order in which they ran.
        rows: When there were how many results, each with the resident MiB of the session.
        processor: Seconds of processor time of all its processes.
    """

    seconds: Sequence[float]
    rows: Sequence[tuple[float, int, float]]
    processor: float

    @property
    def rate(self) -> float:
        """Cases per minute, between the first and the last tenth."""
        count = self.rows[-1][1]
        middle = [(at, n) for at, n, _ in self.rows if 0.1 * count <= n <= 0.9 * count]
        (start, first), (end, last) = middle[0], middle[-1]
        return 60 * (last - first) / (end - start)

    @property
    def growth(self) -> float:
        """MiB by which the session grew from case `EARLY` to the last, before its summary."""
        early = next(mib for _, count, mib in self.rows if count >= EARLY)
        last = self.rows[-1][1]
        return next(mib for _, count, mib in self.rows if count == last) - early


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    os.environ.update(NOOP_CASES=str(options.cases), OMP_NUM_THREADS="1")
    isolated = _noop("--isolate", "always")
    _report_growth(isolated, _noop("--isolate", "never"))
    _report_workers("no-op", isolated, _noop("--isolate", "always", "-n", "2"))
    if options.sweep:
        models = ("tests/models", "--backend", "neuron", "-k", options.sweep)
        _report_workers("models", _session(*models, "-n", "1"), _session(*models, "-n", "2"))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="cases that do nothing")
    parser.add_argument("--sweep", default="", help="-k of real models, run by 1 and 2 workers")
    return parser


def _noop(*options: str) -> Session:
    return _session(*NOOP, *NOOP_OPTIONS, *options)


def _session(*options: str) -> Session:
    """Run pytest and look at it while it runs."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        before = _processor_seconds()
        rows = _watched(directory, options)
        cases = ElementTree.parse(directory / "junit.xml").iter("testcase")
        seconds = [float(case.attrib["time"]) for case in cases]
        return Session(seconds, rows, _processor_seconds() - before)


def _watched(directory: Path, options: Sequence[str]) -> list[tuple[float, int, float]]:
    """The rows of a session that leaves its results in a directory; see `Session`."""
    results, output = directory / "results", directory / "output"
    with open(output, "w") as stream:
        process = subprocess.Popen(
            _command(results, directory / "junit.xml", options),
            cwd=ROOT,
            env={**os.environ, "FAULTS_DIR": str(directory)},
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
        rows: list[tuple[float, int, float]] = []
        while process.poll() is None:
            rows.append((time.monotonic(), _written(results), _resident(process.pid)))
            time.sleep(STEP)
    if process.returncode not in (0, 1):
        raise SystemExit(output.read_text()[-2000:])
    return rows


def _command(results: Path, report: Path, options: Sequence[str]) -> list[str]:
    command = [sys.executable, "-m", "pytest", "--slow", "-q", "-p", "no:cacheprovider"]
    return [*command, "--results", str(results), "--junitxml", str(report), *options]


def _processor_seconds() -> float:
    """Of all processes that have ended here."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _written(results: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in results.glob("*.jsonl"))


def _resident(process: int) -> float:
    """MiB; of a session that has just ended there are none."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(s.split()[1]) / 1024 for s in lines if s.startswith("VmRSS:")), 0.0)


def _report_growth(isolated: Session, in_process: Session) -> None:
    apart, together = isolated.seconds, in_process.seconds
    overhead = 1000 * (statistics.median(apart) - statistics.median(together))
    _say(f"a case in a child takes {1000 * statistics.median(apart):.0f} ms (median)")
    _say(f"of which isolation is {overhead:.0f} ms (target: at most 60 on an idle machine)")
    processor = 1000 * (isolated.processor - in_process.processor) / len(apart)
    _say(f"by processor time {processor:.0f} ms (mean), with the start of the fork server")
    early, late = (statistics.median(part) for part in (apart[:EARLY], apart[-EARLY:]))
    _say(f"the last {EARLY} cases of {len(apart)} / the first: {late / early:.2f} (target: 1)")
    _say(f"memory of the parent from case {EARLY} on: {isolated.growth:+.0f} MiB (target: < 50)")


def _report_workers(what: str, one: Session, two: Session) -> None:
    _say(f"{what}: {one.rate:.0f} cases/minute with one worker, {two.rate:.0f} with two")
    _say(f"{what}: two workers / one: {two.rate / one.rate:.2f} (target: 1.7)")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
