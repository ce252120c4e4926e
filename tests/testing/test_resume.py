"""A run that was cut off goes on: nothing is lost, and nothing that has its result runs again."""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from testing import journal
from tests.testing import stubs
from tests.testing.plugin_runs import (
    KILLS_ITS_WORKER_ONCE,
    NEURON,
    host,
    in_subprocess,
    run,
    with_skips,
    write_conftest,
)

pytest_plugins = ["pytester"]


def resumed(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    stubs.requests.clear()
    return run(pytester, "--resume", "out", *options, *NEURON)


def ran() -> list[str]:
    return sorted({f"{r.case.model_class} {r.case.variant}" for r in stubs.requests})


def forget(directory: Path, *words: str) -> None:
    """Drop the rows of a journal that hold one of these words."""
    file = directory / "results.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not any(word in line for word in words)))


def test_resume_runs_what_has_no_result_and_tells_of_all(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "ViTModel", "CLIPModel")
    run(project, "--results", "out", *NEURON)
    forget(project.path / "out", "dynamic_CvtModel", "static_ViTModel")
    result = resumed(project)
    assert ran() == ["CvtModel dynamic", "ViTModel static"]
    result.assert_outcomes(passed=1, skipped=1, deselected=10)
    assert len(journal.read(project.path / "out")) == 6
    result.stdout.fnmatch_lines(
        ["all * 2 * 2 * 2 * 6", "not run again, since out has their result: 4"]
    )


def test_resume_of_a_whole_run_runs_nothing_and_ends_as_it_did(project: pytest.Pytester) -> None:
    host(project, "CvtModel")
    run(project, "--results", "out", *NEURON)
    assert resumed(project).ret == pytest.ExitCode.OK
    host(project, "CvtModel", "YolosModel")
    assert resumed(project).ret == pytest.ExitCode.TESTS_FAILED
    assert len(ran()) == 2
    result = resumed(project)
    assert (result.ret, ran()) == (pytest.ExitCode.TESTS_FAILED, [])
    result.stdout.fnmatch_lines(
        ["failures (2), causes (1)", "*YolosModel*", *["    pytest *_YolosModel --slow"] * 2]
    )


def test_resume_runs_again_under_other_options_versions_and_entries(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    host(project, "CvtModel", "ViTModel")
    run(project, "--results", "out", "-k", "static", *NEURON)
    for other in (["--trace-patches", "off"], ["--lowering-guard", "off"], []):
        resumed(project, "-k", "static", *other)
        assert ran() == ["CvtModel static", "ViTModel static"]
        resumed(project, "-k", "static", *other)
        assert ran() == []

    entry = with_skips(project, 'EXPORT_SKIPS = {"neuron": {"CvtModel": "dies in trace"}}')
    resumed(project, "-k", "static", *entry).assert_outcomes(skipped=1, deselected=7)
    resumed(project, "-k", "static", "--run-skipped", *entry)
    assert ran() == ["CvtModel static"]
    looser = 'TOLERANCES = {"neuron": {"ViTModel": Tolerance(1e-2, 1e-2, reason="bf16")}}'
    resumed(project, "-k", "static and ViT", *with_skips(project, looser))
    assert ran() == ["ViTModel static"]

    monkeypatch.setattr(stubs.NeuronStub, "distributions", ("pytest", "rich"))
    resumed(project, "-k", "static", *with_skips(project, looser))
    assert ran() == ["CvtModel static", "ViTModel static"]


@pytest.mark.parametrize("kind", ["patch_names", "lowering_names"])
def test_a_patch_or_lowering_that_is_new_is_another_basis(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    host(project, "CvtModel")
    run(project, "--results", "out", *NEURON)
    known = getattr(stubs.NeuronStub, kind)
    monkeypatch.setattr(stubs.NeuronStub, kind, lambda backend: (*known(backend), "of_tomorrow"))
    resumed(project)
    assert ran() == ["CvtModel dynamic", "CvtModel static"]


def test_a_case_that_was_to_be_tried_again_runs(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "YolosModel")
    run(project, "--results", "out", *NEURON)
    file = project.path / "out" / "results.jsonl"
    kept = [row for row in map(json.loads, file.read_text().splitlines()) if row["attempt"] == 1]
    assert [row["retried"] for row in kept].count(True) == 2
    file.write_text("".join(json.dumps(row) + "\n" for row in kept))
    resumed(project)
    assert ran() == ["YolosModel dynamic", "YolosModel static"]


def test_slow_cases_that_were_skipped_run_when_they_are_asked_for(
    project: pytest.Pytester,
) -> None:
    host(project, "CvtModel")
    run(project, "--results", "out", *NEURON, slow=False)
    resumed(project)
    assert len(ran()) == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--resume", "gone"], "--resume: there is no results directory gone"),
        (["--resume", ".", "--results", "out"], "--resume writes to the directory that it *"),
    ],
)
def test_what_cannot_be_resumed_is_wrong_use(
    project: pytest.Pytester, options: list[str], says: str
) -> None:
    host(project, "CvtModel")
    result = run(project, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{says}*"])


LEAVES_TRACES = """
import os, time
def execute(request):
    with open("runs", "a") as file:
        file.write(request.case_id.rpartition("::")[2] + "\\n")
    time.sleep(0.05)
    return stubs.execute(request)
execution.execute = execute
"""


@pytest.mark.parametrize(
    ("workers", "in_flight"), [([], 1), (["-n", "2"], 2)], ids=["alone", "workers"]
)
def test_a_run_whose_parent_is_killed_goes_on_and_runs_twice_only_what_was_in_flight(
    project: pytest.Pytester, workers: list[str], in_flight: int
) -> None:
    host(project, *(f"A{number}Model" for number in range(30)), body="subject = None")
    # Any number will do; the run is killed while it is far from its end.
    enough = random.randrange(3, 40)
    write_conftest(project, LEAVES_TRACES)
    options = ["-p", "no:hypothesispytest", "--slow", *NEURON, *workers]
    process = project.popen([sys.executable, "-m", "pytest", "--results", "out", *options])
    traces = project.path / "runs"
    while not traces.exists() or len(traces.read_text().split()) < enough:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    settled(traces)
    finished = {row.case_id.rpartition("::")[2] for row in journal.read(project.path / "out")}

    in_subprocess(project, "--resume", "out", *workers, *NEURON, conftest=LEAVES_TRACES)
    found = journal.scan(project.path / "out").attempts
    assert len(found) == len({row.case_id for row in found}) == 60
    runs = Counter(traces.read_text().split())
    assert len(runs) == 60
    twice = {name for name, count in runs.items() if count > 1}
    assert twice.isdisjoint(finished), f"killed after {enough}"
    assert len(twice) <= in_flight


def settled(file: Path) -> None:
    """Wait until the workers of a dead controller have ended and write no more."""
    before = -1
    while file.stat().st_size != before:
        before = file.stat().st_size
        time.sleep(1)


# Workers have to collect alike, and one that takes a dead one's part collects when the journal
# has grown: what it sees as finished is what the controller saw.
def test_a_worker_that_comes_late_to_a_resumed_run_collects_what_the_others_did(
    project: pytest.Pytester,
) -> None:
    host(project, "ViTModel", "CvtModel", "CLIPModel", "GPT2Model", "BertModel")
    in_subprocess(project, "-k", "CvtModel", "--results", "out", *NEURON)
    options = ["-n", "2", "--resume", "out", *NEURON]
    result = in_subprocess(project, *options, conftest=KILLS_ITS_WORKER_ONCE)
    assert "gw2" in (project.path / "places").read_text()
    result.stdout.no_fnmatch_line("*Different tests were collected*")
    found = journal.scan(project.path / "out").attempts
    assert len(found) == len({row.case_id for row in found}) == 10
    result.stdout.fnmatch_lines(["not run again, since out has their result: 2"])
