"""The pytest plugin: options, outcomes, skips, limits, the journal and the summary."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest

from testing import execution, journal
from tests.testing import stubs
from tests.testing.plugin_runs import (
    MODULE,
    NEURON,
    PLUGINS,
    ROOT,
    host,
    in_subprocess,
    rows,
    run,
    with_skips,
)

pytest_plugins = ["pytester"]


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


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "worker"])
def test_a_model_class_is_asked_for_by_its_whole_name(
    project: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    host(project, "BertModel", "CvtModel", "ViTModel")
    asked = ["--model-class", "CvtModel", "--model-class", "ViTModl"]
    result = in_subprocess(project, *workers, *asked, *NEURON)
    result.assert_outcomes(passed=2, warnings=1)
    result.stdout.fnmatch_lines(["*no collected test exports 'ViTModl'; did you mean 'ViTModel'?"])


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
