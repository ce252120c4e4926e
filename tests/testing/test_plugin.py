"""The pytest plugin: options, outcomes, skips, limits, the journal and the summary."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest

import exporters
from testing import execution, journal
from testing.results import CaseResult
from tests.testing import stubs

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
MODULE = """
import unittest
from testing.mixin import ExportTesterMixin

class {name}(ExportTesterMixin, unittest.TestCase):
    all_model_classes = {classes!r}
    {body}
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A directory whose runs know two backends, of which ``neuron`` is installed."""
    monkeypatch.setattr(execution, "execute", stubs.execute)
    monkeypatch.delenv("RUN_SLOW", raising=False)
    # These tests may run in a worker themselves, and its name is not that of the inner run.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    for name in list(exporters.BACKENDS):
        monkeypatch.delitem(exporters.BACKENDS, name)
    for name, place in stubs.BACKENDS.items():
        monkeypatch.setitem(exporters.BACKENDS, name, place)
    stubs.requests.clear()
    return pytester


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


def test_every_case_is_an_item_of_its_own(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "BertModel")
    result = run(project, "--collect-only", "-q", *NEURON)
    result.stdout.fnmatch_lines_random(
        [
            "*::ATest::test_neuron_export_static_CvtModel",
            "*::ATest::test_neuron_export_dynamic_CvtModel",
            "*::ATest::test_neuron_export_static_BertModel",
            "*::ATest::test_neuron_export_dynamic_BertModel",
            "*4/8 tests collected (4 deselected)*",
        ]
    )


def test_shards_hold_every_case_once_and_a_class_whole(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "BertModel", "ViTModel", "GPT2Model", "CLIPModel")
    shares = []
    for index in (1, 2):
        result = run(project, "--collect-only", "-q", "--shard", f"{index}/2", *NEURON)
        shares.append({line for line in result.outlines if "::" in line})
    assert not shares[0] & shares[1]
    assert len(shares[0] | shares[1]) == 10
    for share in shares:
        assert sum("static" in name for name in share) == sum("dynamic" in n for n in share)


def test_shards_by_durations_hold_every_case_once(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "BertModel", "ViTModel", "CLIPModel")
    run(project, "--results", "out", *NEURON)
    file = project.path / "out" / "results.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    seconds = {"CvtModel": 8, "BertModel": 4, "ViTModel": 3}
    for row in rows:
        row["seconds"] = {"run": seconds.get(row["model_class"], 0)}
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shares = []
    for index in (1, 2):
        options = ["--shard", f"{index}/2", "--durations-from", "out", "--collect-only", "-q"]
        result = run(project, *options, *NEURON)
        shares.append({line.rpartition("_")[2] for line in result.outlines if "::" in line})
    assert not shares[0] & shares[1]
    assert "CvtModel" in shares[0]
    assert {"BertModel", "ViTModel"} <= shares[1]
    assert len(shares[0] | shares[1]) == 4


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--shard", "1/2", "--durations-from", "gone"], "there is no results directory gone"),
        (["--durations-from", "."], "--durations-from tells how --shard divides: give both"),
    ],
)
def test_durations_that_cannot_be_used_are_wrong_use(
    project: pytest.Pytester, options: list[str], says: str
) -> None:
    result = run(project, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{says}"])


def test_what_is_no_shard_is_wrong_use(project: pytest.Pytester) -> None:
    host(project, "CvtModel")
    result = run(project, "--shard", "3/2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--shard: '3/2' is no shard: give I/N *"])


def test_each_outcome_has_its_pytest_outcome(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "YolosModel", "BertModel", "GPT2Model", "CLIPModel", "ViTModel")
    run(project, "-k", "static", *NEURON).assert_outcomes(
        passed=1, failed=3, skipped=2, deselected=18
    )


def test_a_failure_says_all_that_is_known_and_how_to_run_it_alone(
    project: pytest.Pytester,
) -> None:
    host(project, "YolosModel", name="YolosTest")
    result = run(project, "-k", "static", "--lowering-guard", "off", *NEURON)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*crashed at export · SIGSEGV · aten::upsample_bicubic2d on "
            "embeddings.position_embeddings · modeling_yolos.py:146 · the process died*",
            "*op from: * guard-rerun",
            "*run it alone: pytest *::YolosTest::test_neuron_export_static_YolosModel "
            "--lowering-guard off --slow",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*mixin.py*")


def test_the_short_summary_names_the_cause(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    host(project, "BertModel")
    result = run(project, "-k", "static", *NEURON)
    result.stdout.fnmatch_lines(["FAILED *BertModel - Failed: failed at compare*"])


def test_a_backend_that_is_not_installed_is_skipped_with_the_command(
    project: pytest.Pytester,
) -> None:
    host(project, "CvtModel")
    result = run(project, "-rs")
    result.assert_outcomes(passed=2, skipped=2)
    result.stdout.fnmatch_lines(["*onnx is not installed. Install it with: pip install onnx"])


def test_slow_cases_are_skipped_until_they_are_asked_for(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    host(project, "CvtModel")
    run(project, *NEURON, slow=False).assert_outcomes(skipped=2, deselected=2)
    monkeypatch.setenv("RUN_SLOW", "1")
    run(project, *NEURON, slow=False).assert_outcomes(passed=2, deselected=2)


def test_slow_tests_of_other_kinds_obey_the_same_option(project: pytest.Pytester) -> None:
    project.makepyfile("import pytest\n@pytest.mark.slow\ndef test_it(): pass")
    run(project, slow=False).assert_outcomes(skipped=1)
    run(project).assert_outcomes(passed=1)


# The "un-skip" row of the issue: one entry skips exactly its cases, without it they run.
def test_adding_and_deleting_one_entry_skips_and_unskips(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "CvtForImageClassification")
    before = (ROOT / "skips.py").read_text(encoding="utf-8")
    line = '    "neuron": {'
    assert before.count(line) == 1
    entry = '\n        "CvtModel": "dies in trace",'
    file = project.path / "skips.py"
    options = ["-o", "export_skips=skips.py", "--results", "results", *NEURON]

    file.write_text(before.replace(line, line + entry), encoding="utf-8")
    result = run(project, "-rs", *options)
    result.assert_outcomes(passed=2, skipped=2, deselected=4)
    result.stdout.fnmatch_lines(["SKIPPED [[]2] *: scope neuron: dies in trace"])
    skipped = {n: r for n, r in rows(project.path / "results").items() if r.reason}
    assert {(r.scope, r.reason, r.outcome.value) for r in skipped.values()} == {
        ("neuron", "dies in trace", "skipped")
    }
    assert sorted(skipped) == [
        "test_neuron_export_dynamic_CvtModel",
        "test_neuron_export_static_CvtModel",
    ]

    file.write_text(before, encoding="utf-8")
    run(project, *options).assert_outcomes(passed=4, deselected=4)


def with_skips(pytester: pytest.Pytester, text: str) -> tuple[str, str]:
    (pytester.path / "my_skips.py").write_text(text, encoding="utf-8")
    return "-o", "export_skips=my_skips.py"


def test_run_skipped_tells_needed_from_stale(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "BertModel", "CLIPModel")
    text = """EXPORT_SKIPS = {"neuron.static": {
        "CvtModel": "fixed since", "BertModel": "drifts", "CLIPModel": "mixes samples"}}"""
    options = ["-k", "static", "--run-skipped", "--results", "r", *NEURON]
    result = run(project, *options, *with_skips(project, text))
    result.assert_outcomes(xfailed=1, failed=1, skipped=1, deselected=9)
    result.stdout.fnmatch_lines(["*CvtModel*: xpassed*scope neuron.static is stale, delete it"])
    result.stdout.fnmatch_lines(["*delete the entry of CvtModel at my_skips.py:2, or narrow*"])
    found = {row.model_class: row.outcome.value for row in rows(project.path / "r").values()}
    assert found == {
        "CvtModel": "xpassed",
        "BertModel": "xfailed",
        "CLIPModel": "not_applicable",
    }


# B30, B39: an entry excuses the failure that it names.
def test_a_failure_of_another_cause_than_the_entry_names_is_one(project: pytest.Pytester) -> None:
    host(project, "YolosModel", "BertModel", "GPT2Model")
    text = """EXPORT_SKIPS = {"neuron.static": {
        "YolosModel": "aten::im2col kills the process", "BertModel": "dies in trace",
        "GPT2Model": "drifts"}}"""
    options = ["-k", "static", "--run-skipped", *NEURON, *with_skips(project, text)]
    result = run(project, *options)
    result.assert_outcomes(failed=3, deselected=9)
    for told in ("stage compare, not export", "aten::upsample_bicubic2d, not aten::im2col"):
        result.stdout.fnmatch_lines([f"*The entry names another cause: {told}."])
    run(project, *options, "--no-strict-skips").assert_outcomes(xfailed=3, deselected=9)


def test_stale_entries_fail_nothing_where_they_are_not_strict(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "BertModel")
    text = 'EXPORT_SKIPS = {"neuron": {"CvtModel": "fixed since", "BertModel": "drifts"}}'
    options = ["-k", "static", "--run-skipped", "--no-strict-skips", "--results", "r", *NEURON]
    result = run(project, *options, "-rX", *with_skips(project, text))
    result.assert_outcomes(xfailed=1, xpassed=1, deselected=6)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["XPASS *CvtModel - scope neuron: fixed since*"])
    result.stdout.fnmatch_lines(["stale (1)", "*CvtModel*: xpassed*is stale, delete it"])
    found = {row.model_class: row.outcome.value for row in rows(project.path / "r").values()}
    assert found == {"CvtModel": "xpassed", "BertModel": "xfailed"}


def test_an_exactness_entry_runs_the_case_and_tells_the_comparison(
    project: pytest.Pytester,
) -> None:
    host(project, "CvtModel")
    text = """EXPORT_SKIPS = {"neuron.dynamic.exactness": {"CvtModel": "drifts 3e-3"}}
TOLERANCES = {"neuron.static": {"CvtModel": Tolerance(1e-2, 1e-3, reason="bf16")}}"""
    run(project, *NEURON, *with_skips(project, text)).assert_outcomes(passed=2, deselected=2)
    dynamic, static = sorted(stubs.requests, key=lambda request: request.case.variant)
    assert (dynamic.exactness_reason, static.exactness_reason) == ("drifts 3e-3", None)
    assert (dynamic.tolerance.atol, static.tolerance.atol) == (1e-4, 1e-2)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--backend", "nueron"], "no backend is called 'nueron'; did you mean 'neuron'?"),
        (["--backend", ""], "no backend is called ''. There are: neuron"),
        (["--trace-patches", "weightnorm"], "did you mean 'weight_norm'?"),
        (["--results", "a_file"], "results directory * cannot be written"),
        (["-o", "export_skips=broken.py"], "broken.py:1: unknown facet 'nueron'"),
        (["-o", "export_skips=gone.py"], "gone.py:1: cannot be read"),
    ],
)
def test_wrong_use_is_an_error_that_helps(
    project: pytest.Pytester, options: list[str], says: str
) -> None:
    host(project, "CvtModel")
    project.makefile("", a_file="a file, no directory")
    (project.path / "a_file").touch()
    (project.path / "broken.py").write_text('EXPORT_SKIPS = {"nueron": {}}', encoding="utf-8")
    result = run(project, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{says}*"])


def test_options_reach_the_case(project: pytest.Pytester) -> None:
    host(project, "CvtModel")
    options = ["--neuron-runtime", "neuronx", "--trace-patches", "yolos,weight_norm"]
    run(project, *options, "--lowering-guard", "off", "--isolate", "never", *NEURON)
    request = stubs.requests[0]
    assert request.case.runtime == "neuronx"
    assert (request.settings.trace_patches, request.guard) == ("yolos,weight_norm", False)
    assert request.settings.isolate == "never"
    assert request.test_class == "ATest"
    assert request.path == str(next(project.path.glob("test_*.py")))


@pytest.mark.parametrize(
    ("body", "options", "limit"),
    [
        ("", [], 1000.0),
        ("", ["-o", "timeout=50"], 50.0),
        ("", ["-o", "timeout=50", "--timeout", "40"], 40.0),
        ("pytestmark = [pytest.mark.timeout(30)]", ["--timeout", "40"], 30.0),
    ],
)
def test_the_limit_of_a_case_is_pytest_timeouts(
    project: pytest.Pytester, body: str, options: list[str], limit: float
) -> None:
    host(project, "CvtModel", body=f"import pytest; {body}")
    run(project, *options, *NEURON)
    assert {request.timeout for request in stubs.requests} == {limit}


def test_pytest_timeouts_own_timer_is_off_for_isolated_cases(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were it on, its thread would end this very process."""
    seen: list[tuple[str, bool]] = []

    class Spy:
        @pytest.hookimpl(trylast=True, optionalhook=True)
        def pytest_timeout_set_timer(self, item: pytest.Item) -> bool:
            seen.append((item.name, True))
            return True

    host(project, "CvtModel", body="def test_plain(self): pass")
    arguments = [*PLUGINS, "--slow", "--timeout", "60", *NEURON]
    project.runpytest_inprocess(*arguments, plugins=[Spy()])
    assert [name for name, _ in seen] == ["test_plain"]
    seen.clear()
    project.runpytest_inprocess(*arguments, "--isolate", "never", plugins=[Spy()])
    assert len(seen) == 3


def test_every_case_has_a_row_in_the_journal(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "YolosModel", body="def test_plain(self): pass")
    run(project, "--results", "out")
    found = journal.read(project.path / "out")
    assert Counter(row.outcome.value for row in found) == {
        "passed": 2,
        "crashed": 2,
        "skipped": 4,
    }
    assert len({row.case_id for row in found}) == len(found) == 8
    assert all(row.versions["pytest"] == pytest.__version__ for row in found)


def test_a_case_that_pytest_itself_skips_has_a_row_too(project: pytest.Pytester) -> None:
    project.makepyfile(
        "import pytest\n"
        + MODULE.format(name="ATest", classes=("CvtModel",), body="").replace(
            "class ATest", "@pytest.mark.skip(reason='not today')\nclass ATest"
        )
    )
    run(project, "--results", "out", *NEURON).assert_outcomes(skipped=2, deselected=2)
    assert {row.reason for row in rows(project.path / "out").values()} == {"not today"}


def test_a_fault_of_the_harness_itself_loses_no_case(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(request: object) -> None:
        raise RuntimeError("the server cannot start")

    monkeypatch.setattr(execution, "execute", broken)
    host(project, "CvtModel")
    run(project, "--results", "out", *NEURON).assert_outcomes(failed=2, deselected=2)
    found = rows(project.path / "out").values()
    assert [row.outcome.value for row in found] == ["failed", "failed"]
    assert all("the server cannot start" in (row.message or "") for row in found)


def test_a_second_run_into_one_directory_is_a_second_attempt(project: pytest.Pytester) -> None:
    host(project, "CvtModel")
    for _ in range(2):
        run(project, "--results", "out", *NEURON)
    lines = (project.path / "out" / "results.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["attempt"] for line in lines) == [1, 1, 2, 2]


def test_test_torch_exportable_skips_with_that_reason(project: pytest.Pytester) -> None:
    host(project, "CvtModel", body="test_torch_exportable = False")
    result = run(project, "-rs", *NEURON)
    result.assert_outcomes(skipped=2, deselected=2)
    result.stdout.fnmatch_lines(["*ATest.test_torch_exportable = False"])


def test_a_class_that_transformers_lacks_fails_and_names_the_nearest(
    project: pytest.Pytester,
) -> None:
    host(project, "BertModle", "CvtModel")
    result = run(project, "-k", "static", *NEURON)
    result.assert_outcomes(passed=1, failed=1, deselected=6)
    result.stdout.fnmatch_lines(
        ["*transformers has no model class 'BertModle'; nearest: BertModel*"]
    )


def test_a_model_type_that_transformers_lacks_is_one_failing_test(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(MODULE.format(name="ATest", classes=None, body="model_type = 'brt'"))
    result = run(project)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*transformers has no model type 'brt'; nearest:*"])


# B06: one incompatibility is one failure, whatever the number of models.
def test_a_toolkit_with_another_interface_fails_once(project: pytest.Pytester) -> None:
    host(project, "T5Model", "BartModel", "CvtModel")
    text = 'EXPORT_SKIPS = {"neuron": {"T5Model": "a listed failure", "BartModel": "as well"}}'
    result = run(project, *NEURON, "--run-skipped", *with_skips(project, text))
    result.assert_outcomes(failed=1, skipped=5, deselected=6)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["failures (1)", "*toolkit 9 takes no argument*"])


def test_setup_and_teardown_do_not_run_in_the_parent(project: pytest.Pytester) -> None:
    body = "def setUp(self): raise RuntimeError('in the parent')\n    tearDown = setUp"
    host(project, "CvtModel", body=body)
    run(project, *NEURON).assert_outcomes(passed=2, deselected=2)


# B32: as many rows as tests, and a strict reader can read them.
def test_junit_has_a_row_for_each_case(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "YolosModel", "CLIPModel")
    run(project, "--junitxml", "junit.xml")
    suite = ElementTree.parse(project.path / "junit.xml").getroot()[0]
    names = [case.attrib["name"] for case in suite.iter("testcase")]
    assert len(names) == len(set(names)) == int(suite.attrib["tests"]) == 12
    assert suite.attrib["failures"] == "2"
    assert suite.attrib["skipped"] == "8"


def test_the_summary_tells_totals_and_what_is_not_applicable(project: pytest.Pytester) -> None:
    host(project, "CvtModel", "CLIPModel", "YolosModel")
    result = run(project, "-k", "static", *NEURON)
    result.stdout.fnmatch_lines(
        [
            "*= exports =*",
            "not applicable (1)",
            "*CLIPModel*: logits_per_image: (4, 2) in chunks, (4, 4) on the whole",
            "totals *passed*crashed*not applicable*all",
            "neuron/xla static * 1 * 1 * 1 * 3",
            "failures (1)",
            "*YolosModel*: crashed at export · SIGSEGV*",
        ]
    )


@pytest.mark.parametrize("options", [[], ["-k", "nothing"]], ids=["a-case-ran", "none-ran"])
def test_lines_that_hold_no_result_are_told(project: pytest.Pytester, options: list[str]) -> None:
    host(project, "CvtModel")
    (project.path / "out").mkdir()
    (project.path / "out" / "results.jsonl").write_text("[]\n{half\n")
    result = run(project, "--results", "out", *options, *NEURON)
    result.stdout.fnmatch_lines(
        ["lines of the results directory that hold no result: 2, first results.jsonl:1: *"]
    )


def test_a_run_without_exports_has_no_such_summary(project: pytest.Pytester) -> None:
    project.makepyfile("def test_it(): pass")
    result = run(project)
    result.stdout.no_fnmatch_line("*= exports =*")


def test_a_reason_with_control_characters_does_not_break_the_report(
    project: pytest.Pytester,
) -> None:
    """B34: colour escapes, NUL and a lone surrogate stay recognisable and parse."""
    reason = r"red \x1b[31m nul \x00 half \ud800 <&]]>"
    text = f'EXPORT_SKIPS = {{"neuron": {{"CvtModel": "{reason}"}}}}'
    host(project, "CvtModel")
    options = ["-rs", "--junitxml", "junit.xml", "--results", "out", *NEURON]
    run(project, *options, *with_skips(project, text)).assert_outcomes(skipped=2, deselected=2)
    ElementTree.parse(project.path / "junit.xml")
    (stored,) = {row.reason for row in journal.read(project.path / "out")}
    assert stored is not None
    assert stored.startswith("red ")


# Resume


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


def test_workers_share_one_journal_and_one_summary(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
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
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    host(project, "T5Model", "BartModel")
    for _ in range(2):
        result = in_subprocess(project, "-n", "2", "--results", "out", *NEURON)
        result.assert_outcomes(failed=1, skipped=3)
    assert {path.suffix for path in (project.path / "out").iterdir()} == {".jsonl"}


def test_unittest_alone_runs_the_cases_with_defaults(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.makepyfile(
        host="import exporters\nfrom testing import execution\nfrom tests.testing import stubs\n"
        "execution.execute = stubs.execute\n"
        "exporters.BACKENDS.clear()\nexporters.BACKENDS.update(stubs.BACKENDS)\n"
        + MODULE.format(name="ATest", classes=("CvtModel", "YolosModel"), body="")
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}", "RUN_SLOW": "1"}
    ended = subprocess.run(
        [sys.executable, "-m", "unittest", "host"],
        env=environment,
        cwd=project.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Ran 8 tests" in ended.stderr
    assert "FAILED (failures=2, skipped=4)" in ended.stderr
    assert "crashed at export · SIGSEGV" in ended.stderr


TWO_DEVICES = "stubs.NeuronStub.devices = lambda self, runtime: 2\n"


def test_more_workers_than_devices_is_wrong_use(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    host(project, "CvtModel")
    result = in_subprocess(project, "-n", "3", *NEURON, conftest=TWO_DEVICES)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*3 workers cannot share *neuron*: ask for 2 at most"])


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


@pytest.fixture
def with_a_death(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.RunResult:
    """A run of ten cases by two workers, of which one dies with a case of ViTModel."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
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
        ["*itself died in stage 'start' *", "run it alone: pytest *ViTModel --slow", "*ViTModel"]
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
    monkeypatch: pytest.MonkeyPatch,
    workers: list[str],
    source: str,
    says: str,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
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


def test_what_a_test_attaches_cannot_end_the_run(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    project.makepyfile(ATTACHES)
    result = in_subprocess(project, "-n", "2")
    result.assert_outcomes(passed=6, failed=1)
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


@pytest.mark.parametrize("how", ["load", "loadscope", "worksteal"])
def test_workers_agree_however_cases_are_handed_out(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    host(project, "CvtModel", "YolosModel", "CLIPModel", "ViTModel", "BertModel")
    in_subprocess(project, "-n", "2", "--dist", how, "--results", "out", *NEURON)
    in_subprocess(project, "--results", "alone", *NEURON)
    apart, alone = (
        {(row.case_id, row.outcome, row.message) for row in journal.read(project.path / name)}
        for name in ("out", "alone")
    )
    assert apart == alone
    assert len(apart) == 10


LEAVES_TRACES = """
import os, time
def execute(request):
    with open("runs", "a") as file:
        file.write(request.case_id.rpartition("::")[2] + "\\n")
    time.sleep(0.05)
    return stubs.execute(request)
execution.execute = execute
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "workers"])
def test_a_run_whose_parent_is_killed_goes_on_and_runs_twice_only_what_was_in_flight(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: list[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
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
    assert len(twice) <= max(1, len(workers))


def settled(file: Path) -> None:
    """Wait until the workers of a dead controller have ended and write no more."""
    before = -1
    while file.stat().st_size != before:
        before = file.stat().st_size
        time.sleep(1)


# Workers have to collect alike, and one that takes a dead one's part collects when the journal
# has grown: what it sees as finished is what the controller saw.
def test_a_worker_that_comes_late_to_a_resumed_run_collects_what_the_others_did(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    host(project, "ViTModel", "CvtModel", "CLIPModel", "GPT2Model", "BertModel")
    in_subprocess(project, "-k", "CvtModel", "--results", "out", *NEURON)
    options = ["-n", "2", "--resume", "out", *NEURON]
    result = in_subprocess(project, *options, conftest=KILLS_ITS_WORKER_ONCE)
    assert "gw2" in (project.path / "places").read_text()
    result.stdout.no_fnmatch_line("*Different tests were collected*")
    found = journal.scan(project.path / "out").attempts
    assert len(found) == len({row.case_id for row in found}) == 10
    result.stdout.fnmatch_lines(["not run again, since out has their result: 2"])


# B34: the verdict does not depend on the locale, nor does what can be written.
def test_a_run_in_the_c_locale_ends_as_any_other(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
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
