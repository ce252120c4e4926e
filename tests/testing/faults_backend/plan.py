"""Which classes there are, how each has to end, and how a session over all of them is started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from testing.results import Outcome

__all__ = ["CASES", "OPTIONS", "Expected", "remember", "run_session", "runs"]

ROOT: Final = Path(__file__).parents[3]
PACKAGE: Final = "tests.testing.faults_backend"
DIRECTORY: Final = "FAULTS_DIR"
OPTIONS: Final = (
    "tests/testing/faults_backend/cases.py",
    *("-p", f"{PACKAGE}.backend", "--backend", "faults", "--slow"),
    *("--lowering-guard", "off", "--case-memory", "1G"),
    # Its summary imports all of Hypothesis, and no cache may tell one session of another.
    *("-p", "no:hypothesispytest", "-p", "no:cacheprovider", "-q"),
)
"""Arguments of pytest; ``-n`` and ``--results`` are added."""

SOUND: Final = "IsSound"
HANG_SECONDS: Final = 8
"""Limit of what hangs; all else has pytest's usual one, for machines that are slow or busy."""


@dataclass(frozen=True)
class Expected:
    """How a case has to end.

    Attributes:
        count: How many classes have this fault.
        outcome: Outcome of the row that stands.
        signal: Signal of that row.
        stage: Stage of that row.
        words: What its message holds.
        op: Op that a guarded rerun names.
        first: How the first try died that a second one followed, as its headline begins.
    """

    count: int
    outcome: Outcome
    signal: str | None = None
    stage: str | None = "export"
    words: str = ""
    op: str | None = None
    first: str | None = None


_DIED: Final = Outcome.CRASHED


def _passed(count: int, words: str = "", first: str | None = None) -> Expected:
    return Expected(count, Outcome.PASSED, stage="compare", words=words, first=first)


def _died_by(
    count: int, number: signal.Signals, words: str = "", op: str | None = None
) -> Expected:
    first = f"crashed at export · {number.name}"
    return Expected(count, _DIED, number.name, words=words, op=op, first=first)


FAULTS: Final = {
    "Segfaults": _died_by(4, signal.SIGSEGV, "left no message", "aten::broken"),
    "Aborts": _died_by(4, signal.SIGABRT, "Check failed: data != nullptr", "aten::broken"),
    "IsKilled": _died_by(3, signal.SIGKILL),
    "BusErrors": _died_by(3, signal.SIGBUS),
    "ExitsEarly": Expected(3, _DIED, words="exited with status 0", first="crashed at export"),
    "CrashesAtExit": _passed(3, "died by SIGSEGV at exit"),
    "HangsWithLock": Expected(2, Outcome.TIMEOUT, words=f"its limit of {HANG_SECONDS} s"),
    "HangsInNative": Expected(2, Outcome.TIMEOUT, words=f"its limit of {HANG_SECONDS} s"),
    "LeavesGrandchild": _passed(3),
    "KillsServerOnce": _passed(2, first="crashed at export"),
    "Floods": _passed(3),
    "EatsMemory": _died_by(3, signal.SIGKILL, "--case-memory"),
    "CrashesOnce": _passed(3, first="crashed at export · SIGSEGV"),
    "Raises": Expected(2, Outcome.FAILED, words="UnloweredError", op="aten::broken"),
}
"""Each fault, with how the classes that have it end. 40 in all."""


def _cases() -> dict[str, Expected]:
    """200 classes, every fifth of them faulty; names sort in this order, as pytest runs them."""
    faulty = [fault for fault, expected in FAULTS.items() for _ in range(expected.count)]
    sound = _passed(1)
    cases = {}
    for number in range(5 * len(faulty)):
        fault = faulty[number // 5] if number % 5 == 2 else SOUND
        cases[f"Case{number:03d}{fault}"] = FAULTS.get(fault, sound)
    return cases


CASES: Final = _cases()
"""How each class has to end."""


def fault_of(model_class: str) -> str:
    """The fault that a class has, ``IsSound`` for none."""
    return model_class[len("Case000") :]


def run_session(directory: Path, *options: str) -> subprocess.Popen[str]:
    """Start a session whose classes leave their traces in `directory`.

    It leads a process group of its own. What it prints goes to ``directory/output``.
    """
    directory.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, DIRECTORY: str(directory), "OMP_NUM_THREADS": "1"}
    # These tests may run in a worker themselves, and its name is not that of the session.
    for name in [name for name in environment if name.startswith("PYTEST_")]:
        del environment[name]
    with open(directory / "output", "a") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", *OPTIONS, *options],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def remember(model_class: str) -> None:
    """Note that a class is being exported, also in a process that is about to die."""
    with open(Path(os.environ[DIRECTORY]) / "runs", "ab", buffering=0) as stream:
        stream.write(f"{model_class}\n".encode())


def runs(directory: Path) -> list[str]:
    """The classes that were exported in `directory`, in the order in which that began."""
    path = directory / "runs"
    return path.read_text().split() if path.exists() else []


def is_first_time(model_class: str) -> bool:
    """Whether a class asks this for the first time in its directory."""
    try:
        (Path(os.environ[DIRECTORY]) / f"seen-{model_class}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
