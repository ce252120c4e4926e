"""Runs of pytest with the plugin and doubles, in this process or in one of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from testing import journal
from testing.results import CaseResult

__all__ = [
    "KILLS_ITS_WORKER_ONCE",
    "MODULE",
    "NEURON",
    "PLUGINS",
    "ROOT",
    "host",
    "in_subprocess",
    "rows",
    "run",
    "with_skips",
    "write_conftest",
]

ROOT = Path(__file__).parents[2]
MODULE = """
import unittest
from testing.mixin import ExportTesterMixin

class {name}(ExportTesterMixin, unittest.TestCase):
    all_model_classes = {classes!r}
    {body}
"""


def host(pytester: pytest.Pytester, *classes: str, name: str = "ATest", body: str = "") -> None:
    pytester.makepyfile(MODULE.format(name=name, classes=classes, body=body))


def run(pytester: pytest.Pytester, *options: str, slow: bool = True) -> pytest.RunResult:
    chosen = ["--slow"] if slow else []
    return pytester.runpytest_inprocess(*PLUGINS, *chosen, *options)


def rows(directory: Path) -> dict[str, CaseResult]:
    return {result.case_id.rpartition("::")[2]: result for result in journal.read(directory)}


NEURON = ("--backend", "neuron")
# Hypothesis' own plugin imports all of it for its summary, which takes seconds a run.
PLUGINS = ("-p", "testing.plugin", "-p", "no:hypothesispytest")


def with_skips(pytester: pytest.Pytester, text: str) -> tuple[str, str]:
    (pytester.path / "my_skips.py").write_text(text, encoding="utf-8")
    return "-o", "export_skips=my_skips.py"


def write_conftest(pytester: pytest.Pytester, more: str) -> None:
    """Have runs in processes of their own know the doubles, and what is added to them."""
    pytester.makeconftest(
        "import exporters\nfrom testing import execution\nfrom tests.testing import stubs\n"
        "pytest_plugins = ['testing.plugin']\nexecution.execute = stubs.execute\n"
        "exporters.BACKENDS.clear()\nexporters.BACKENDS.update(stubs.BACKENDS)\n" + more
    )


def in_subprocess(
    pytester: pytest.Pytester, *options: str, conftest: str = ""
) -> pytest.RunResult:
    write_conftest(pytester, conftest)
    return pytester.runpytest_subprocess("-p", "no:hypothesispytest", "--slow", *options)


# The others wait for the worker that takes the dead one's part, gw2, so that it has some.
KILLS_ITS_WORKER_ONCE = """
import os, signal, time
from pathlib import Path
from testing.parallel import worker
def execute(request):
    told = f"{worker.get().index} of {worker.get().count}"
    with open("places", "a") as file:
        file.write(f"{os.environ['PYTEST_XDIST_WORKER']} {told}\\n")
    if request.case.model_class == "ViTModel" and not Path("died").exists():
        Path("died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    end = time.monotonic() + 60
    while Path("died").exists() and "gw2" not in Path("places").read_text():
        time.sleep(0.05)
        if time.monotonic() > end:
            break
    return stubs.execute(request)
execution.execute = execute
"""
