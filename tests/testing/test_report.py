"""Reports: what several directories hold together, and what changed since another night."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

from testing import cli
from testing.reports.cause import cause_of
from testing.reports.changes import Comparison, Kind, Limits
from testing.reports.digest import sections
from testing.reports.report import Report
from testing.reports.sweep import NoResultsError, Sweep
from testing.results import COLLECTION, CaseResult, LeafMetrics, Outcome
from tests.testing.nights import VERSIONS, crash, passing, row, write


def sweep(directory: Path, *results: CaseResult) -> Sweep:
    return Sweep.load([write(directory, results)])


def at(time: float, directory: Path) -> Path:
    """The directory, its files written at that time."""
    for path in directory.iterdir():
        os.utime(path, (time, time))
    return directory


class TestSeveralDirectories:
    def test_shards_and_backends_are_one_sweep(self, tmp_path: Path) -> None:
        write(tmp_path / "a", [passing()])
        write(tmp_path / "b", [passing(variant="dynamic")])
        write(tmp_path / "c", [passing(runtime="neuronx"), crash()])
        found = Sweep.load([tmp_path / "a", tmp_path / "b", tmp_path / "c"])
        assert {case.column for case in found.cases.values()} == {
            "neuron/xla static",
            "neuron/xla dynamic",
            "neuron/neuronx static",
        }
        assert (len(found.cases), found.conflicts) == (4, ())

    @pytest.mark.parametrize("swapped", [False, True])
    def test_what_was_written_last_counts_and_the_conflict_is_told(
        self, tmp_path: Path, swapped: bool
    ) -> None:
        at(100, write(tmp_path / "old", [row(outcome="failed", message="off")]))
        at(200, write(tmp_path / "new", [passing()]))
        directories = [tmp_path / "old", tmp_path / "new"]
        found = Sweep.load(directories[::-1] if swapped else directories)
        (case,) = found.cases.values()
        (conflict,) = found.conflicts
        assert case.result.outcome is Outcome.PASSED
        assert [said for _, said in conflict.told] == ["failed · off", "passed"]
        (note,) = Report(found).notes
        assert "BertModel [neuron/xla static] ended differently, the last written counts" in note

    def test_a_case_that_is_the_same_in_two_directories_is_no_conflict(
        self, tmp_path: Path
    ) -> None:
        write(tmp_path / "a", [row(outcome="failed", message="differs at [0, 3]: 0.5")])
        write(tmp_path / "b", [row(outcome="failed", message="differs at [1, 2]: 0.7")])
        assert Sweep.load([tmp_path / "a", tmp_path / "b"]).conflicts == ()

    def test_a_file_that_is_cut_in_the_middle_loses_one_line_and_says_so(
        self, tmp_path: Path
    ) -> None:
        path = write(tmp_path, [passing(), crash()]) / "results.jsonl"
        os.truncate(path, path.stat().st_size - 50)
        found = Sweep.load([tmp_path])
        (note,) = Report(found).notes
        assert len(found.cases) == 1
        assert f"a line that holds no result: {tmp_path}/results.jsonl:2: " in note

    def test_one_empty_directory_of_several_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        write(tmp_path / "full", [passing()])
        found = Sweep.load([tmp_path / "full", tmp_path / "empty"])
        assert Report(found).notes == [f"{tmp_path}/empty holds no result"]

    # B42: nothing collected is not a pass.
    def test_nothing_at_all_is_no_report(self, tmp_path: Path) -> None:
        with pytest.raises(NoResultsError, match="no results in"):
            Sweep.load([tmp_path])

    def test_a_directory_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(NoResultsError, match="no results directory .*missing"):
            Sweep.load([tmp_path / "missing"])

    # B29: one row a case, and the crash is not lost.
    def test_crashed_then_passed_is_one_case_that_is_told_as_flaky(self, tmp_path: Path) -> None:
        found = sweep(tmp_path, crash("BertModel", variant="static"), passing(attempt=2))
        report = Report(found)
        (case,) = report.flaky
        assert (len(found.cases), case.result.outcome) == (1, Outcome.PASSED)
        assert case.tries[0].startswith("crashed at export · SIGSEGV")
        assert report.verdict == "none of 1 cases fails"

    @pytest.mark.parametrize(
        "other", [{"versions": {"torch": "2.9.0"}}, {"conditions": {"lowerings": "off"}}]
    )
    def test_what_passes_under_other_versions_or_options_is_mended_and_not_flaky(
        self, tmp_path: Path, other: dict[str, Any]
    ) -> None:
        found = sweep(tmp_path, row(**{**OFF, **other}), passing(attempt=2))
        assert Report(found).flaky == []

    def test_a_death_that_a_retry_survived_is_told_as_flaky_too(self, tmp_path: Path) -> None:
        (case,) = Report(sweep(tmp_path, passing(deaths=["crashed · SIGKILL"]))).flaky
        assert case.tries == ["crashed · SIGKILL"]

    def test_components_are_rows_of_their_case_and_no_cases(self, tmp_path: Path) -> None:
        parts = [
            row(component="encoder"),
            row(component="decoder", outcome="failed"),
            row(outcome="failed"),
        ]
        (case,) = sweep(tmp_path, *parts).cases.values()
        assert case.result.component is None
        assert [part.component for part in case.rows] == [None, "decoder", "encoder"]

    def test_components_without_the_row_that_sums_them_up_count_as_the_one_that_fails(
        self, tmp_path: Path
    ) -> None:
        parts = [row(component="encoder"), row(component="decoder", outcome="crashed")]
        (case,) = sweep(tmp_path, *parts).cases.values()
        assert (case.fails, len(case.rows)) == (True, 2)


def changes(tmp_path: Path, old: list[CaseResult], new: list[CaseResult]) -> list[Kind]:
    found = compared(tmp_path, old, new)
    return [change.kind for change in found.changes]


def compared(
    tmp_path: Path, old: list[CaseResult], new: list[CaseResult], **limits: float
) -> Comparison:
    # A case that is in both keeps either night from being empty.
    before = sweep(tmp_path / "old", row("T5Model"), *old)
    now = sweep(tmp_path / "new", row("T5Model"), *new)
    return Comparison.of(now, before, Limits(**limits))


SKIPPED = {"outcome": "skipped", "scope": "neuron", "reason": "no lowering"}
LOST = {"outcome": "skipped", "reason": "torch_xla is not installed"}
OFF = {"outcome": "failed", "stage": "compare", "message": "`logits` differs at [0, 1]: 0.5"}
RAISED = {"outcome": "failed", "stage": "eager", "message": "ImportError: timm"}


class TestChanges:
    @pytest.mark.parametrize(
        ("old", "new", "kind", "is_regression"),
        [
            ({}, OFF, Kind.NEWLY_FAILING, True),
            (SKIPPED, OFF, Kind.NEWLY_FAILING, True),
            ({}, {"outcome": "timeout"}, Kind.NEWLY_FAILING, True),
            (SKIPPED, {"outcome": "xpassed"}, Kind.NEWLY_FAILING, True),
            ({}, LOST, Kind.NO_LONGER_RUN, True),
            (OFF, LOST, Kind.NO_LONGER_RUN, True),
            ({}, {"outcome": "not_applicable"}, Kind.NO_LONGER_RUN, True),
            ({}, {"outcome": "exported"}, Kind.NO_LONGER_RUN, True),
            ({}, SKIPPED, Kind.NEWLY_SKIPPED, False),
            (OFF, SKIPPED, Kind.NEWLY_SKIPPED, False),
            (OFF, RAISED, Kind.OTHER_CAUSE, False),
            (OFF, {**OFF, "outcome": "crashed"}, Kind.OTHER_CAUSE, False),
            (OFF, {}, Kind.NEWLY_PASSING, False),
            (SKIPPED, {}, Kind.NEWLY_PASSING, False),
            ({"outcome": "not_applicable"}, {}, Kind.NEWLY_PASSING, False),
        ],
    )
    def test_of_an_outcome(
        self,
        tmp_path: Path,
        old: dict[str, Any],
        new: dict[str, Any],
        kind: Kind,
        is_regression: bool,
    ) -> None:
        found = compared(tmp_path, [row(**old)], [row(**new)])
        assert [change.kind for change in found.changes] == [kind]
        assert found.has_regressions is is_regression

    @pytest.mark.parametrize("same", [{}, SKIPPED, OFF, {"outcome": "not_applicable"}])
    def test_the_same_outcome_is_none(self, tmp_path: Path, same: dict[str, Any]) -> None:
        assert changes(tmp_path, [row(**same)], [row(**same)]) == []

    def test_a_case_that_vanished_is_a_regression(self, tmp_path: Path) -> None:
        found = compared(tmp_path, [row()], [])
        assert [(c.kind, c.said) for c in found.changes] == [(Kind.VANISHED, "was passed")]
        assert found.has_regressions

    def test_a_new_case_is_none_even_where_it_fails(self, tmp_path: Path) -> None:
        found = compared(tmp_path, [], [row(**OFF)])
        assert [change.kind for change in found.changes] == [Kind.NEW]
        assert not found.has_regressions

    # B42: what cannot be collected is a regression; that it is collected again is none.
    def test_a_module_that_cannot_be_collected_fails_newly_and_passes_newly(
        self, tmp_path: Path
    ) -> None:
        broken = row(
            backend=COLLECTION,
            runtime=None,
            outcome="failed",
            stage="collect",
            message="SyntaxError",
        )
        assert changes(tmp_path / "1", [], [broken]) == [Kind.NEWLY_FAILING]
        assert changes(tmp_path / "2", [broken], []) == [Kind.NEWLY_PASSING]
        mended = dataclasses.replace(broken, outcome=Outcome.NOT_APPLICABLE)
        assert changes(tmp_path / "3", [mended], []) == []

    def test_another_runtime_is_another_case(self, tmp_path: Path) -> None:
        found = changes(tmp_path, [row(runtime="xla")], [row(runtime="neuronx")])
        assert found == [Kind.VANISHED, Kind.NEW]

    @pytest.mark.parametrize(
        ("then", "now", "is_slower"),
        [
            (10.0, 20.1, True),
            (10.0, 19.9, False),  # less than twice
            (1.0, 5.9, False),  # less than five seconds more
            (0.0, 5.1, True),
        ],
    )
    def test_slower_is_by_a_factor_and_by_seconds(
        self, tmp_path: Path, then: float, now: float, is_slower: bool
    ) -> None:
        rows = [row(seconds={"export": seconds}) for seconds in (then, now)]
        assert changes(tmp_path, rows[:1], rows[1:]) == ([Kind.SLOWER] if is_slower else [])

    @pytest.mark.parametrize(
        ("then", "now", "is_worse"),
        [
            (1e-5, 1.1e-4, True),
            (1e-5, 0.9e-4, False),
            (0.0, 0.9e-5, False),  # not ten times the floor
            (0.0, 1.1e-5, True),
            (1e-3, math.nan, True),
            (1e-3, math.inf, True),
            (math.nan, 1e-3, False),
            (math.nan, math.nan, False),
        ],
    )
    def test_worse_is_by_a_factor_from_a_floor_on(
        self, tmp_path: Path, then: float, now: float, is_worse: bool
    ) -> None:
        found = changes(tmp_path, [passing(then)], [passing(now)])
        assert found == ([Kind.WORSE] if is_worse else [])

    def test_of_several_outputs_the_one_that_got_worse_most_is_named(self, tmp_path: Path) -> None:
        def figures(**errors: float) -> CaseResult:
            metrics = {k: LeafMetrics(e, e, None, None, 0.0) for k, e in errors.items()}
            return row(metrics=metrics)

        old, new = figures(a=1e-5, b=1e-5, c=1e-5), figures(a=2e-4, b=3e-3, c=1e-5)
        (change,) = compared(tmp_path, [old], [new]).changes
        assert change.said == "`b`: max abs 1e-05 → 0.003"

    def test_what_fails_is_neither_slower_nor_worse(self, tmp_path: Path) -> None:
        old, new = row(**OFF), row(**OFF, seconds={"export": 900.0})
        assert changes(tmp_path, [old], [new]) == []

    def test_versions_that_differ_are_told_first(self, tmp_path: Path) -> None:
        old = [row(versions={**VERSIONS, "transformers": "4.57.5", "optimum": "2.3.0"})]
        new = [row(**OFF)]
        before, now = sweep(tmp_path / "a", *old), sweep(tmp_path / "b", *new)
        found = Comparison.of(now, before)
        assert found.versions == {"transformers": "4.57.5 → 4.57.6"}
        assert sections(Report(now, found))[0].title == "versions differ"

    def test_a_package_that_came_or_went_differs(self, tmp_path: Path) -> None:
        before = sweep(tmp_path / "a", row(versions={"optimum": "2.3.0"}))
        now = sweep(tmp_path / "b", row(versions={"torch-neuronx": "2.9"}))
        assert Comparison.of(now, before).versions == {
            "torch-neuronx": "none → 2.9",
            "optimum": "2.3.0 → none",
        }


class TestCause:
    @pytest.mark.parametrize(
        "other",
        [
            {"message": "`logits` differs at [0, 9]: -1.25e-3"},
            {"source": "modeling_bert.py:99"},
            {"message": "`logits` differs at [0, 1]: 0.5\nand more"},
        ],
    )
    def test_figures_and_lines_are_none(self, other: dict[str, Any]) -> None:
        facts = {**OFF, "source": "modeling_bert.py:12"}
        assert cause_of(row(**facts)) == cause_of(row(**{**facts, **other}))

    @pytest.mark.parametrize(
        "other",
        [
            {"outcome": "crashed"},
            {"stage": "export"},
            {"signal": "SIGSEGV"},
            {"op": "aten::unfold"},
            {"message": "`pooler` differs at [0, 1]: 0.5"},
            {"source": "modeling_t5.py:12"},
        ],
    )
    def test_each_of_these_is_another_one(self, other: dict[str, Any]) -> None:
        assert cause_of(row(**OFF)) != cause_of(row(**{**OFF, **other}))

    def test_failures_of_one_cause_are_one_group(self, tmp_path: Path) -> None:
        failing = [crash("AModel"), crash("BModel"), row("CModel", **OFF), row("DModel")]
        report = Report(sweep(tmp_path, *failing))
        assert [len(group.cases) for group in report.failures] == [2, 1]
        assert report.verdict == "3 of 4 cases fail, of 2 causes"


class TestFigures:
    def test_tolerances_that_are_nearly_used_are_told_the_fullest_first(
        self, tmp_path: Path
    ) -> None:
        shares = {"AModel": 0.2, "BModel": 0.7, "CModel": 0.9}
        results = [passing(used=share, model_class=name) for name, share in shares.items()]
        # What fails is told as a failure, and an older journal has no shares.
        results += [row("DModel", **OFF, metrics={"x": LeafMetrics(1, 1, 1, 1, 1, 9.0)})]
        results += [passing(used=None, model_class="EModel")]
        report = Report(sweep(tmp_path, *results))
        found = [case.result.model_class for case in report.nearly_used(5)]
        assert found == ["CModel", "BModel"]

    def test_the_slowest_are_told_with_a_time_that_is_no_number_left_out(
        self, tmp_path: Path
    ) -> None:
        results = [row("AModel", seconds={"run": 1.0}), row("BModel", seconds={"run": 3.0})]
        results += [row("CModel", seconds={"run": math.nan, "export": 2.0})]
        slowest = Report(sweep(tmp_path, *results)).slowest(2)
        assert [case.result.model_class for case in slowest] == ["BModel", "CModel"]

    # B32: what the totals say is what the rows are.
    def test_totals_add_up_to_the_cases(self, tmp_path: Path) -> None:
        report = Report(sweep(tmp_path, row("AModel"), crash(), row("BModel", **OFF)))
        assert report.totals == {Outcome.PASSED: 1, Outcome.FAILED: 1, Outcome.CRASHED: 1}
        assert sum(report.totals.values()) == len(report.cases)


class TestCommand:
    @pytest.fixture
    def nights(self, tmp_path: Path) -> tuple[str, str]:
        before = write(tmp_path / "before", [row(), passing(variant="dynamic")])
        now = write(tmp_path / "now", [row(**OFF), passing(variant="dynamic")])
        return str(now), str(before)

    def test_it_writes_the_page_into_the_directory_and_says_so(
        self, nights: tuple[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["report", nights[0]]) == 0
        told = capsys.readouterr().out.splitlines()
        assert told[-2:] == [
            "1 of 2 cases fail, of 1 cause",
            f"wrote {nights[0]}/report.html",
        ]
        assert (Path(nights[0]) / "report.html").read_text("utf-8").startswith("<!doctype html>")

    def test_every_format_in_one_go(
        self, nights: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "out"
        files = [out / "a.html", out / "b.md", out / "c.xml"]
        options = ["--html", files[0], "--markdown", files[1], "--junit", files[2]]
        assert cli.main(["report", nights[0], *map(str, options), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["written"] == list(map(str, files))
        assert all(path.stat().st_size for path in files)
        assert not (Path(nights[0]) / "report.html").exists()

    def test_markdown_without_a_file_is_what_it_prints(
        self, nights: tuple[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["report", nights[0], "--markdown"]) == 0
        printed = capsys.readouterr()
        assert printed.out.startswith("### 1 of 2 cases fail, of 1 cause.\n")
        assert printed.err == f"wrote {nights[0]}/report.html\n"

    def test_a_regression_is_the_exit_status_of_1(
        self, nights: tuple[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        now, before = nights
        assert cli.main(["report", now, "--against", before]) == 1
        assert f"regressions against {before}: 1 newly failing" in capsys.readouterr().out

    def test_failures_that_were_there_are_not(self, nights: tuple[str, str]) -> None:
        now, before = nights
        assert cli.main(["report", before, "--against", now]) == 0
        assert cli.main(["report", now, "--against", now]) == 0

    @pytest.mark.parametrize(("also", "status"), [([], 0), (["--fail-on", "slower"], 1)])
    def test_what_fail_on_names_is_a_regression_too(
        self, tmp_path: Path, also: list[str], status: int
    ) -> None:
        before = write(tmp_path / "a", [row(seconds={"run": 1.0})])
        now = write(tmp_path / "b", [row(seconds={"run": 99.0})])
        assert cli.main(["report", str(now), "--against", str(before), *also]) == status

    def test_json_has_every_change(
        self, nights: tuple[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        now, before = nights
        cli.main(["report", now, "--against", before, "--json"])
        found = json.loads(capsys.readouterr().out)
        (change,) = found["against"]["changes"]
        assert (change["kind"], change["regression"]) == ("newly failing", True)
        assert found["totals"] == {"passed": 1, "failed": 1}

    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["missing"],
            ["empty"],
            ["full", "--against", "missing"],
            ["full", "--against", "empty"],
            ["full", "--html", "full/results.jsonl/x.html"],
            ["full", "--slower", "0.5"],
            ["full", "--worse", "nan"],
            ["full", "--fail-on", "new"],
        ],
    )
    def test_wrong_use_is_the_exit_status_of_2(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "empty").mkdir()
        write(tmp_path / "full", [row()])
        assert cli.main(["report", *arguments]) == 2

    def test_it_says_what_is_a_regression_in_its_help(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["report", "--help"]) == 0
        assert "exit status: 1 only where --against finds a regression" in " ".join(
            capsys.readouterr().out.split()
        )

    # B46, B34: neither the figures nor the names of a row keep the others from being told.
    def test_a_row_with_anything_in_it_is_told(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        sick = row(
            case_id="a \"quoted\" 'id'\nover lines::test_\ud800\x1b[31m\x00",
            outcome="failed",
            message="y" * 1_000_000,
            metrics={"x|`<b>": LeafMetrics(math.nan, math.inf, None, None, 1.0)},
            seconds={"run": math.inf},
        )
        write(tmp_path, [dataclasses.replace(sick, model_class="A\n|`<i>\x00"), passing()])
        options = ["--junit", str(tmp_path / "j.xml"), "--markdown", str(tmp_path / "m.md")]
        assert cli.main(["report", str(tmp_path), *options]) == 0
        assert "A |`<i>\\x00 [neuron/xla static]: failed · yyy" in capsys.readouterr().out
        assert (tmp_path / "report.html").stat().st_size < 200_000
