"""Workers: they agree, share devices and a journal, and what dies with one is not lost."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest

from testing import journal
from tests.testing.plugin_runs import (
    KILLS_ITS_WORKER_ONCE,
    NEURON,
    host,
    in_subprocess,
    run,
    with_skips,
)

pytest_plugins = ["pytester"]


def test_workers_share_one_journal_and_one_summary(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "YolosModel", "CLIPModel")
    result = in_subprocess(project, "-n", "2", "--results", "out", *NEURON)
    result.assert_outcomes(passed=2, failed=2, skipped=2)
    assert len(journal.read(project.path / "out")) == 6
    assert {path.name for path in (project.path / "out").iterdir()} <= {
        "results-gw0.jsonl",
        "results-gw1.jsonl",
    }
    result.stdout.fnmatch_lines(["*= exports =*", "all * 2 * 2 * 2 * 6"])
    assert str(result.stdout).count("= exports =") == 1


# B06: nor is it one for each worker.
def test_a_toolkit_with_another_interface_fails_once_for_all_workers(
    project: pytest.Pytester,
) -> None:
    host(project, "T5Model", "BartModel")
    for _ in range(2):
        result = in_subprocess(project, "-n", "2", "--results", "out", *NEURON)
        result.assert_outcomes(failed=1, skipped=3)
    assert {path.suffix for path in (project.path / "out").iterdir()} == {".jsonl"}


TWO_DEVICES = "stubs.NeuronStub.devices = lambda self, runtime: 2\n"


def test_more_workers_than_devices_is_wrong_use(project: pytest.Pytester) -> None:
    host(project, "CvtModel")
    result = in_subprocess(project, "-n", "3", *NEURON, conftest=TWO_DEVICES)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*3 workers cannot share *neuron*: ask for 2 at most"])


@pytest.fixture
def with_a_death(project: pytest.Pytester) -> pytest.RunResult:
    """A run of ten cases by two workers, of which one dies with a case of ViTModel."""
    host(project, "ViTModel", "CvtModel", "CLIPModel", "GPT2Model", "BertModel")
    return in_subprocess(
        project,
        *("-n", "2", "--results", "out", "--junitxml", "junit.xml", *NEURON),
        conftest=KILLS_ITS_WORKER_ONCE,
    )


@pytest.mark.usefixtures("with_a_death")
def test_workers_have_places_of_their_own_also_one_that_takes_anothers_part(
    project: pytest.Pytester,
) -> None:
    told = set((project.path / "places").read_text().splitlines())
    places = dict(line.split(" ", 1) for line in told)
    assert len(places) == len(told) == 3
    assert {places["gw0"], places["gw1"]} == {"0 of 2", "1 of 2"}
    assert places["gw2"] in {"0 of 2", "1 of 2"}


# B29: one final row for each id, as many as were collected, and the death is told with its case.
def test_a_worker_that_dies_leaves_the_result_of_its_case(
    project: pytest.Pytester, with_a_death: pytest.RunResult
) -> None:
    found = journal.read(project.path / "out")
    assert len(found) == len({row.case_id for row in found}) == 10
    (died,) = [row for row in found if row.outcome.value == "crashed"]
    assert (died.model_class, died.stage, died.attempt) == ("ViTModel", "start", 1)
    assert "itself died in stage 'start' of this case" in (died.message or "")
    with_a_death.stdout.fnmatch_lines(
        [
            "*itself died in stage 'start' *",
            "run it alone: pytest *ViTModel --slow",
            "FAILED *ViTModel*",
        ]
    )
    suite = ElementTree.parse(project.path / "junit.xml").getroot()[0]
    names = [case.attrib["name"] for case in suite.iter("testcase")]
    assert len(names) == int(suite.attrib["tests"]) == 10


def test_a_case_that_died_with_its_worker_and_passes_later_is_one_row_of_two_tries(
    project: pytest.Pytester, with_a_death: pytest.RunResult
) -> None:
    in_subprocess(project, "--results", "out", "-k", "ViTModel", *NEURON)
    contents = journal.scan(project.path / "out")
    tries = [row for row in contents.attempts if row.model_class == "ViTModel"]
    assert Counter((row.outcome.value, row.attempt) for row in tries) == {
        ("crashed", 1): 1,
        ("exported", 1): 1,
        ("exported", 2): 2,
    }
    assert len(contents.results) == 10


# B42: what cannot be collected is a row and a failure, and the others run.
@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "workers"])
@pytest.mark.parametrize(
    ("source", "says"),
    [("import gone_for_good", "No module named 'gone_for_good'"), ("def (", "SyntaxError")],
)
def test_a_module_that_cannot_be_imported_does_not_vanish(
    project: pytest.Pytester,
    workers: list[str],
    source: str,
    says: str,
) -> None:
    host(project, "CvtModel")
    (project.path / "test_broken.py").write_text(source)
    options = ["--continue-on-collection-errors", "--resume", "out", *workers, *NEURON]
    (project.path / "out").mkdir()
    result = in_subprocess(project, *options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = {row.case_id: row for row in journal.read(project.path / "out")}
    assert [row.outcome.value for row in found.values()].count("passed") == 2
    broken = found["test_broken.py"]
    assert (broken.outcome.value, broken.stage) == ("failed", "collect")
    first = (broken.message or "").splitlines()[0]
    assert first.startswith("collection error: ")
    assert says in first
    result.stdout.fnmatch_lines(["failures (1)", f"*test_broken.py*collection error: *{says}*"])
    assert len(journal.scan(project.path / "out").attempts) == 3

    (project.path / "test_broken.py").unlink()
    host(project, "ViTModel", name="BTest")
    (project.path / "test_broken.py").write_text("def test_it(): pass")
    assert in_subprocess(project, *options).ret == pytest.ExitCode.OK
    healed = {row.case_id: row for row in journal.read(project.path / "out")}["test_broken.py"]
    assert (healed.outcome.value, healed.attempt) == ("not_applicable", 2)


def test_nothing_collected_is_no_pass(project: pytest.Pytester) -> None:
    project.makepyfile("")
    result = run(project, *NEURON)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


# B46: what a test attaches to its report cannot end the run; B34: nor a lone surrogate.
ATTACHES = r"""
import enum
from pathlib import Path
import pytest

class Kind(enum.IntEnum):
    ONE = 1

class Mute(Exception):
    def __init__(self): super().__init__(lambda: None)
    def __str__(self): raise RuntimeError("no words")

THINGS = [Kind.ONE, Path("x"), Mute(), {Kind.ONE: [object()]}, "half \ud800", {1, 2}]

@pytest.mark.parametrize("number", range(len(THINGS)))
def test_it(number, record_property):
    record_property("thing", THINGS[number])

def test_fails():
    raise ValueError("half \ud800")
"""


def test_what_a_test_attaches_cannot_end_the_run(project: pytest.Pytester) -> None:
    project.makepyfile(ATTACHES)
    result = in_subprocess(project, "-n", "2")
    result.assert_outcomes(passed=6, failed=1)
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


@pytest.mark.parametrize("how", ["load", "loadscope", "worksteal"])
def test_workers_agree_however_cases_are_handed_out(project: pytest.Pytester, how: str) -> None:
    host(project, "CvtModel", "YolosModel", "CLIPModel", "ViTModel", "BertModel")
    in_subprocess(project, "-n", "2", "--dist", how, "--results", "out", *NEURON)
    in_subprocess(project, "--results", "alone", *NEURON)
    apart, alone = (
        {(row.case_id, row.outcome, row.message) for row in journal.read(project.path / name)}
        for name in ("out", "alone")
    )
    assert apart == alone
    assert len(apart) == 10


# B34: the verdict does not depend on the locale, nor does what can be written.
def test_a_run_in_the_c_locale_ends_as_any_other(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "C")
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONUTF8", "0")
    monkeypatch.setenv("PYTHONCOERCECLOCALE", "0")
    host(project, "CvtModel", "BertModel")
    reason = r"caf\u00e9 \U0001f600 \ud800 \x1b[31m"
    text = f'EXPORT_SKIPS = {{"neuron": {{"CvtModel": "{reason}"}}}}'
    result = in_subprocess(project, "--results", "out", *NEURON, *with_skips(project, text))
    result.assert_outcomes(failed=2, skipped=2)
    result.stdout.no_fnmatch_line("*INTERNALERROR*")
    found = {row.reason for row in journal.read(project.path / "out") if row.reason}
    assert [reason.startswith("caf\u00e9 \U0001f600 ") for reason in found] == [True]
