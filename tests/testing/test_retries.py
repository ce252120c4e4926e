"""What died is tried again, and a run whose results cannot be written stops: stub cases."""

from __future__ import annotations

import pytest

from testing import journal
from testing.results import CaseResult
from tests.testing.plugin_runs import NEURON, host, in_subprocess, run

pytest_plugins = ["pytester"]

STATIC = ("-k", "static", "--results", "out", *NEURON)


def attempts(project: pytest.Pytester) -> list[CaseResult]:
    return list(journal.scan(project.path / "out").attempts)


# B29: a test that dies the first time and passes the second is one result, and the death is told.
def test_a_case_that_dies_once_is_one_pass_that_tells_of_the_death(
    project: pytest.Pytester,
) -> None:
    host(project, "DeiTModel", "CvtModel")
    result = run(project, *STATIC)

    result.assert_outcomes(passed=2, deselected=6)
    tries = [row for row in attempts(project) if row.model_class == "DeiTModel"]
    assert [row.outcome.value for row in tries] == ["crashed", "passed"]
    assert [(row.attempt, row.retried) for row in tries] == [(1, True), (2, False)]
    assert len(journal.read(project.path / "out")) == 2
    assert tries[1].deaths[0].startswith("crashed at export · SIGSEGV")
    result.stdout.fnmatch_lines(
        ["*flaky (1)*", "*DeiTModel *: crashed, then passed: crashed at export · SIGSEGV*"]
    )


def test_a_case_that_dies_twice_has_crashed_and_is_not_flaky(project: pytest.Pytester) -> None:
    host(project, "YolosModel")
    result = run(project, *STATIC)

    result.assert_outcomes(failed=1, deselected=3)
    assert [row.outcome.value for row in attempts(project)] == ["crashed", "crashed"]
    result.stdout.no_fnmatch_line("*flaky (*")
    result.stdout.fnmatch_lines(["  tries: *2, and all ended so"])


def test_a_case_that_dies_and_then_fails_is_a_failure_and_flaky(project: pytest.Pytester) -> None:
    host(project, "BeitModel")
    result = run(project, *STATIC)

    result.assert_outcomes(failed=1, deselected=3)
    result.stdout.fnmatch_lines(
        ["  tries: *before, crashed at export*", "*crashed, then failed: crashed at export*"]
    )


@pytest.mark.parametrize(("retries", "tries"), [("0", 1), ("1", 2), ("3", 4)])
def test_how_often_is_an_option(project: pytest.Pytester, retries: str, tries: int) -> None:
    host(project, "YolosModel")
    run(project, *STATIC, "--crash-retries", retries)

    assert len(attempts(project)) == tries


# What hangs costs its limit each time.
@pytest.mark.parametrize("model_class", ["GPT2Model", "BertModel", "CvtModel", "CLIPModel"])
def test_only_what_died_is_tried_again(project: pytest.Pytester, model_class: str) -> None:
    host(project, model_class)
    run(project, *STATIC)

    assert [row.retried for row in attempts(project)] == [False]


def test_a_death_that_was_to_be_retried_is_run_again_by_resume(project: pytest.Pytester) -> None:
    host(project, "DeiTModel")
    run(project, *STATIC)
    path = project.path / "out" / "results.jsonl"
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    run(project, "-k", "static", "--resume", "out", *NEURON)

    latest = journal.read(project.path / "out")
    assert [row.outcome.value for row in latest] == ["passed"]


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--crash-retries", "-1", "give 0 or more"),
        ("--case-memory", "much", "'much' is no amount of memory"),
        ("--case-memory", "0", "no amount of memory"),
    ],
)
def test_wrong_amounts_are_wrong_use(
    project: pytest.Pytester, option: str, value: str, says: str
) -> None:
    host(project, "CvtModel")
    result = run(project, option, value)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{option}: *{says}*"])


# A limit for files stands for a full disk: the write fails in the same way, without a mount.
SMALL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "worker"])
def test_a_full_disk_stops_the_run_and_resume_goes_on(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    host(project, *(f"Cvt{number}Model" for number in range(40)), body=OWN_SUBJECT)
    options = ("-p", "no:cacheprovider", "-k", "static", *NEURON, *workers)
    stopped = in_subprocess(project, "--results", "out", *options, conftest=SMALL_DISK)

    assert stopped.ret == pytest.ExitCode.INTERRUPTED
    stopped.stdout.fnmatch_lines(
        [
            "*the result of *Cvt*Model (passed) cannot be written to *: File too large*",
            "*Make room, then go on with --resume *out*",
        ]
    )
    kept = journal.scan(project.path / "out")
    assert 0 < len(kept.results) < 40
    assert all(row.outcome.value == "passed" for row in kept.results)

    resumed = in_subprocess(project, "--resume", "out", *options)
    assert resumed.ret == pytest.ExitCode.OK
    assert len(journal.read(project.path / "out")) == 40


def test_a_run_that_keeps_nothing_is_not_told_to_be_gone_on_with(project: pytest.Pytester) -> None:
    host(project, *(f"Cvt{number}Model" for number in range(40)), body=OWN_SUBJECT)
    options = ("-p", "no:cacheprovider", "-k", "static", *NEURON)
    stopped = in_subprocess(project, *options, conftest=SMALL_DISK)

    assert stopped.ret == pytest.ExitCode.INTERRUPTED
    stopped.stdout.fnmatch_lines(["*Make room, then run it again, with --results DIR"])
    stopped.stdout.no_fnmatch_line("*--resume*")


OWN_SUBJECT = "def subject(self, model_class): ..."
