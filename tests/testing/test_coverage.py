"""`export-harness coverage`: what it reads, what it examines, how it goes on and what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from testing import auto_classes, cli
from testing.cases import ExportCase
from testing.commands import coverage as command
from testing.coverage import declared, examining, gathering, markdown, selection, swept, text
from testing.coverage.errors import NoTestsError, UnknownSelectionError, VerdictJournalError
from testing.coverage.examining import examine_all
from testing.coverage.journal import Key, VerdictJournal, default_path
from testing.coverage.progress import told
from testing.coverage.record import ClassRecord, Coverage, totals_of
from testing.coverage.skipping import skips_of
from testing.coverage.verdict import Kind, Verdict, verdict_of
from testing.isolation import ChildError, ChildReport, Ending, ForkServer, Frame, Task
from testing.journal import Journal
from testing.registry import Registry
from testing.results import CaseResult, Outcome

ROOT = Path(__file__).resolve().parents[2]
MODEL = Frame("/site-packages/transformers/modeling_alpha.py", 12, "forward")
TORCH = Frame("/site-packages/torch/nn/functional.py", 3000, "embedding")


def examination(**values: Any) -> dict[str, Any]:
    """What a child reports of a model without a problem, but for `values`."""
    nothing: dict[str, Any] = {"problems": [], "exceptions": [], "idle": [], "large": None}
    return {**nothing, "leaves": 2, "constant": [], "inputs": ["input_ids"], **values}


def error(kind: str, message: str, *frames: Frame) -> ChildError:
    return ChildError(kind, message, "", frames)


class TestVerdicts:
    @pytest.mark.parametrize(
        ("kind", "message", "found"),
        [
            (Kind.COVERED, None, examination()),
            (Kind.PROBLEMS, "a; b", examination(problems=["a", "b"], exceptions=["flag=1"])),
            (Kind.TAMED, "flag=False: why", examination(exceptions=["flag=False: why"])),
        ],
    )
    def test_of_a_model_that_was_examined(
        self, kind: Kind, message: str | None, found: dict[str, Any]
    ) -> None:
        verdict = verdict_of("A", ChildReport(Ending.RESULT, result=found, stage="examine"))
        assert (verdict.kind, verdict.message) == (kind, message)
        assert verdict.builds
        assert verdict.runs

    @pytest.mark.parametrize(
        ("kind", "message", "raised"),
        [
            (
                Kind.NEEDS_PACKAGE,
                "timm",
                error("MissingPackageError", "A needs packages that are not installed: timm"),
            ),
            (
                Kind.IMPOSSIBLE,
                "no forward",
                error("ImpossibleModelError", "A cannot be run: no forward"),
            ),
            (Kind.NO_TINY_MODEL, "A has none", error("ConfigDefaultsError", "A has none")),
            (
                Kind.NO_TINY_MODEL,
                "IndexError: out of range (modeling_alpha.py:12)",
                error("IndexError", "out\nof range", TORCH, MODEL),
            ),
        ],
    )
    def test_of_one_that_could_not_be_built(
        self, kind: Kind, message: str, raised: ChildError
    ) -> None:
        verdict = verdict_of("A", ChildReport(Ending.ERROR, error=raised, stage="build"))
        assert (verdict.kind, verdict.message, verdict.builds) == (kind, message, False)

    def test_of_one_that_is_built_and_raises(self) -> None:
        raised = error("ValueError", "bad", TORCH)
        verdict = verdict_of("A", ChildReport(Ending.ERROR, error=raised, stage="examine"))
        assert (verdict.kind, verdict.message) == (
            Kind.EAGER_FAILS,
            "ValueError: bad (functional.py:3000)",
        )
        assert (verdict.builds, verdict.runs) == (True, False)

    @pytest.mark.parametrize(
        ("kind", "message", "report"),
        [
            (
                Kind.CRASHED,
                "SIGSEGV in examine (modeling_alpha.py:12)",
                ChildReport(Ending.SIGNALED, signal="SIGSEGV", stage="examine", stack=(MODEL,)),
            ),
            (
                Kind.CRASHED,
                "exited with a status 3 in start",
                ChildReport(Ending.EXITED, exit_code=3),
            ),
            (Kind.TIMED_OUT, "build did not end", ChildReport(Ending.TIMEOUT, stage="build")),
        ],
    )
    def test_of_one_that_died_or_hung(self, kind: Kind, message: str, report: ChildReport) -> None:
        verdict = verdict_of("A", report)
        assert (verdict.kind, verdict.message) == (kind, message)

    def test_what_nothing_here_can_run_is_no_finding(self) -> None:
        assert {kind for kind in Kind if not kind.is_finding} == {
            Kind.COVERED,
            Kind.TAMED,
            Kind.NEEDS_PACKAGE,
            Kind.IMPOSSIBLE,
        }


KEY = Key({"transformers": "4.57.6", "torch": "2.9.1"}, "0123")
COVERED = Verdict("A", Kind.COVERED, stage="examine", examination=examination())


class TestJournal:
    def test_what_was_appended_is_read(self, tmp_path: Path) -> None:
        journal = VerdictJournal(tmp_path / "new" / "v.jsonl", KEY)
        journal.append(COVERED)
        assert VerdictJournal(journal.path, KEY).read() == {"A": COVERED}

    def test_without_a_file_nothing_is_known(self, tmp_path: Path) -> None:
        assert VerdictJournal(tmp_path / "none.jsonl", KEY).read() == {}

    def test_a_torn_last_line_loses_no_other_and_is_not_gone_on_with(self, tmp_path: Path) -> None:
        journal = VerdictJournal(tmp_path / "v.jsonl", KEY)
        journal.append(COVERED)
        with journal.path.open("ab") as stream:
            stream.write(b'{"model_class": "B", "ki')
        assert journal.read() == {"A": COVERED}
        journal.append(Verdict("C", Kind.CRASHED))
        assert list(journal.read()) == ["A", "C"]

    @pytest.mark.parametrize(
        "other",
        [Key({**KEY.versions, "torch": "2.13.0"}, "0123"), Key(KEY.versions, "4567")],
        ids=["versions", "sources"],
    )
    def test_a_verdict_on_other_versions_or_sources_does_not_count(
        self, tmp_path: Path, other: Key
    ) -> None:
        VerdictJournal(tmp_path / "v.jsonl", other).append(COVERED)
        assert VerdictJournal(tmp_path / "v.jsonl", KEY).read() == {}

    def test_one_that_cannot_be_written_is_an_error_that_says_what_to_do(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(VerdictJournalError, match="name another file with --journal"):
            VerdictJournal(tmp_path / "file" / "v.jsonl", KEY).append(COVERED)

    def test_its_name_has_the_versions(self) -> None:
        assert default_path(KEY.versions) == Path("build/coverage/4.57.6-torch-2.9.1.jsonl")


class RunnerDouble:
    """Stands in for a fork server: answers by the name of the class."""

    def __init__(self, answer: Callable[[str], ChildReport]) -> None:
        self.answer = answer

    def __enter__(self) -> RunnerDouble:
        return self

    def __exit__(self, *_: object) -> None: ...

    def run(self, task: Task) -> ChildReport:
        return self.answer(task.payload)


class TestExamining:
    def test_each_class_gets_its_verdict(self) -> None:
        def answer(name: str) -> ChildReport:
            problems = [name] if name == "B" else []
            return ChildReport(Ending.RESULT, result=examination(problems=problems))

        verdicts = examine_all(["A", "B", "C"], 2, lambda: RunnerDouble(answer))
        kinds = {verdict.model_class: verdict.kind for verdict in verdicts}
        assert kinds == {"A": Kind.COVERED, "B": Kind.PROBLEMS, "C": Kind.COVERED}

    def test_nothing_starts_where_nothing_is_missing(self) -> None:
        assert list(examine_all([], 2, lambda: pytest.fail("started"))) == []

    def test_an_error_of_the_harness_is_raised_and_no_verdict(self) -> None:
        def answer(name: str) -> ChildReport:
            raise OSError("no processes left")

        with pytest.raises(OSError, match="no processes left"):
            list(examine_all(["A"], 1, lambda: RunnerDouble(answer)))

    def test_a_class_that_dies_takes_no_other_with_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "examination_double.py").write_text(
            "import os, signal\n"
            "def main(name, report):\n"
            "    report('examine')\n"
            "    if name == 'Dying': os.kill(os.getpid(), signal.SIGSEGV)\n"
            f"    return {examination()!r}\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(examining, "_TARGET", "examination_double:main")
        verdicts = list(examine_all(["Dying", "Alive"], 1, ForkServer))
        assert [v.kind for v in verdicts] == [Kind.CRASHED, Kind.COVERED]
        assert (verdicts[0].message or "").startswith("SIGSEGV in examine")

    def test_how_far_it_is_is_told_now_and_then(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert len(list(told([COVERED] * 150, 150))) == 150
        assert capsys.readouterr().err == "examined 100 of 150\nexamined 150 of 150\n"

    @pytest.mark.slow
    def test_a_real_model_is_examined(self) -> None:
        (verdict,) = examine_all(["BertModel"], 1)
        assert verdict.examination is not None
        assert verdict.examination["inputs"][0] == "input_ids"


@pytest.fixture
def handmade_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of tests: one class that is right, and names that nothing has."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    # Not tests/models: the modules would stand in for the project's own.
    directory = tmp_path / "handmade" / "models"
    directory.mkdir(parents=True)
    (directory / "areas.py").write_text("AREAS = {'text': ('bert', 'brt'), 'vision': ('vit',)}")
    (directory / "test_handmade.py").write_text(
        "import unittest\n"
        "from testing.mixin import ExportTesterMixin\n"
        "class GoodTest(ExportTesterMixin, unittest.TestCase):\n"
        "    all_model_classes = ('BertModel', 'BertLayer')\n"
        "class BadTest(ExportTesterMixin, unittest.TestCase):\n"
        "    all_model_classes = ('BertModle',)\n"
        "class BadTypeTest(ExportTesterMixin, unittest.TestCase):\n"
        "    model_type = 'gpt3'\n"
    )
    return directory


class TestDeclaredTests:
    def test_a_class_has_the_tests_that_name_it(self, handmade_tests: Path) -> None:
        (place,) = declared.read(handmade_tests).tests["BertModel"]
        assert place.endswith("handmade/models/test_handmade.py::GoodTest")

    def test_a_directory_may_be_where_one_is(
        self, handmade_tests: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(handmade_tests)
        assert declared.read(Path()).tests["BertModel"] == ("test_handmade.py::GoodTest",)

    def test_an_area_is_that_of_the_list(self, handmade_tests: Path) -> None:
        found = declared.read(handmade_tests)
        assert (found.area_of("vit"), found.area_of("new")) == ("vision", "unsorted")

    def test_names_that_nothing_has_are_told_with_the_nearest(self, handmade_tests: Path) -> None:
        unknown = {name.name: name for name in declared.read(handmade_tests).unknown}
        assert sorted(unknown) == ["BertModle", "brt", "gpt3"]
        assert unknown["BertModle"].nearest[0] == "BertModel"
        assert "area text names 'brt', which no supported transformers has; nearest: bert" in str(
            unknown["brt"]
        )

    def test_a_name_of_another_supported_version_is_right(self) -> None:
        assert declared.read().unknown == ()

    def test_without_a_directory_the_option_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(NoTestsError, match="name one with --tests"):
            declared.read(tmp_path / "none")

    def test_a_module_that_cannot_be_imported_is_named(self, handmade_tests: Path) -> None:
        (handmade_tests / "test_unfinished.py").write_text("import nothing_of_this_name")
        with pytest.raises(NoTestsError, match=r"test_unfinished.py .*ModuleNotFound"):
            declared.read(handmade_tests)


SKIPS = """
EXPORT_SKIPS = {
    "neuron.xla.dynamic": {"BertModel": "aten::nonzero reads the mask."},
    "neuron.exactness": {"BertModel": "Off by 2e-4 in the pooler.", "GPT2Model": "Drifts."},
}
"""


def test_an_entry_is_told_with_the_cases_that_it_applies_to(tmp_path: Path) -> None:
    (tmp_path / "skips.py").write_text(SKIPS)
    skip, exactness = skips_of("BertModel", Registry.load(tmp_path / "skips.py"))
    assert (skip.scope, skip.cases) == ("neuron.xla.dynamic", ("neuron/xla dynamic",))
    assert exactness.scope == "neuron.exactness"
    assert len(exactness.cases) == 4


def results(directory: Path, *rows: tuple[str, Outcome]) -> Path:
    case = ExportCase("BertModel", "bert", "neuron", runtime="xla")
    for case_id, outcome in rows:
        Journal(directory).append(CaseResult.of(case, case_id, outcome))
    return directory


class TestSweep:
    def test_of_two_tests_of_a_class_the_worse_counts(self, tmp_path: Path) -> None:
        run = results(tmp_path, ("a", Outcome.FAILED), ("b", Outcome.PASSED))
        assert swept.outcomes_of([run]) == {"BertModel": {"neuron/xla static": Outcome.FAILED}}

    def test_a_later_run_replaces_a_case(self, tmp_path: Path) -> None:
        runs = [
            results(tmp_path / "1", ("a", Outcome.FAILED)),
            results(tmp_path / "2", ("a", Outcome.PASSED)),
        ]
        assert swept.outcomes_of(runs)["BertModel"]["neuron/xla static"] is Outcome.PASSED

    def test_every_outcome_has_a_rank(self) -> None:
        assert set(swept._BEST_FIRST) == set(Outcome)


class TestSelection:
    def test_a_model_type_stands_for_its_classes(self) -> None:
        assert selection.selected(["vit", "BertModel"]) == (
            "BertModel",
            *sorted(auto_classes.classes_of("vit")),
        )

    def test_no_name_stands_for_all(self) -> None:
        assert set(selection.selected([])) == auto_classes.known_classes()

    def test_an_unknown_name_is_an_error_with_the_nearest(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["coverage", "BertModle"]) == 2
        assert "'BertModle'; nearest: BertModel" in capsys.readouterr().err

    def test_one_of_another_version_is_told_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(selection.released, "versions_with", lambda name: ("9.0.0",))
        with pytest.raises(UnknownSelectionError, match="transformers 9.0.0 has it"):
            selection.selected(["bert-of-the-future"])


def record(name: str, kind: Kind, message: str | None = None, **values: Any) -> ClassRecord:
    verdict = Verdict(name, kind, message, examination=values.pop("examination", None))
    defaults: dict[str, Any] = {"area": "text", "tests": ("test_text.py::ATest",)}
    return ClassRecord(name, name.lower(), **{**defaults, "verdict": verdict, **values})


RECORDS = (
    record("Alpha", Kind.COVERED, examination=examination(constant=["pooler"])),
    record("Beta", Kind.IMPOSSIBLE, "it has no <forward>"),
    record("Gamma", Kind.CRASHED, "SIGSEGV in examine", area="vision"),
    record("Delta", Kind.TAMED, "flag", examination=examination(exceptions=["flag"], large="3 M")),
    record("Eps", Kind.NEEDS_PACKAGE, "timm", outcomes={"neuron/xla static": Outcome.SKIPPED}),
)
FOUND = Coverage({"transformers": "4.57.6"}, RECORDS)


class TestTotals:
    def test_they_count_each_kind(self) -> None:
        totals = totals_of(RECORDS)
        assert (totals.classes, totals.tested, totals.reachable) == (5, 5, 3)
        assert (totals.leaves, totals.constant, totals.large, totals.tamed) == (4, 1, 1, 1)
        assert totals.kinds[Kind.COVERED] == 1

    def test_a_crash_is_a_finding_and_what_needs_a_package_is_none(self) -> None:
        assert FOUND.has_findings
        assert not Coverage({}, tuple(r for r in RECORDS if r.model_class != "Gamma")).has_findings

    def test_so_is_a_class_without_a_test(self) -> None:
        assert Coverage({}, (record("Zeta", Kind.COVERED, tests=()),)).has_findings

    @pytest.mark.parametrize(("kind", "finds"), [(Kind.PROBLEMS, False), (Kind.COVERED, True)])
    def test_a_declared_gap_is_a_finding_once_it_is_none(self, kind: Kind, finds: bool) -> None:
        gap = record("Zeta", kind, "idle", known="it has two towers")
        assert Coverage({}, (gap,)).has_findings is finds
        assert ("delete their entries" in text.summary(Coverage({}, (gap,)))) is finds

    def test_json_carries_all_of_it(self) -> None:
        found = json.loads(json.dumps(FOUND.to_dict()))
        assert found["totals"]["kinds"]["needs a package"] == 1
        assert found["areas"]["vision"]["classes"] == 1
        alpha, beta, *_ = found["classes"]
        assert (alpha["kind"], alpha["every_input_matters"]) == ("covered", True)
        assert (beta["eager_runs"], beta["every_input_matters"]) == (False, None)


class TestReports:
    def test_the_page_has_each_class_that_is_not_covered_and_why(self) -> None:
        page = markdown.page(FOUND)
        assert "## Crashed (1)\n\n- `Gamma` (gamma): SIGSEGV in examine\n" in page
        assert "- `Beta` (beta): it has no \\<forward\\>\n" in page
        assert "- 1 of the 3 classes that can be run here are covered (33.3%).\n" in page
        assert "`Alpha`" not in page

    def test_a_message_is_shown_as_it_is(self) -> None:
        page = markdown.page(Coverage({}, (record("A", Kind.CRASHED, "a_b `__init__` *"),)))
        assert r": a_b \`\__init_\_\` \*" in page

    def test_its_tables_are_of_areas_and_of_backends(self) -> None:
        page = markdown.page(FOUND)
        assert "| text | 4 | 4 | 1 | 1 | 1 | 1 | 0 |\n" in page
        assert "| neuron/xla static | 1 | 1 |\n" in page

    def test_on_a_terminal_findings_follow_the_totals(self) -> None:
        said = text.summary(FOUND)
        assert said.splitlines()[0].split()[:3] == ["area", "classes", "with"]
        assert "crashed (1)\n  Gamma (gamma): SIGSEGV in examine" in said

    def test_one_class_is_told_in_full(self) -> None:
        said = text.details(Coverage({}, (RECORDS[4],)))
        assert said.splitlines() == [
            "Eps (eps, text)",
            "  test: test_text.py::ATest",
            "  tiny model: needs a package",
            "    timm",
            "  neuron/xla static: skipped",
        ]


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the classes that a double was asked to examine."""
    asked: list[str] = []

    def examine(names: list[str], workers: int) -> Iterator[Verdict]:
        for name in names:
            asked.append(name)
            kind = Kind.CRASHED if name == "BertForMaskedLM" else Kind.COVERED
            yield Verdict(name, kind, examination=examination())

    monkeypatch.setattr(gathering, "examine_all", examine)
    return asked


class TestCommand:
    def test_a_run_goes_on_where_another_was_interrupted(
        self, examined: list[str], tmp_path: Path
    ) -> None:
        journal = ["--journal", str(tmp_path / "v.jsonl")]
        assert cli.main(["coverage", "BertModel", *journal]) == 0
        assert cli.main(["coverage", "BertModel", "GPT2Model", *journal]) == 0
        assert examined == ["BertModel", "GPT2Model"]

    def test_what_crashes_makes_the_exit_status_1(
        self, examined: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        argv = ["coverage", "bert", "--json", "--journal", str(tmp_path / "v.jsonl")]
        assert cli.main(argv) == 1
        found = {row["model_class"]: row for row in json.loads(capsys.readouterr().out)["classes"]}
        assert found["BertForMaskedLM"]["kind"] == "crashed"
        assert found["BertModel"]["tests"][-1] == (
            "tests/models/test_text_encoders.py::BertExportTest"
        )

    @pytest.mark.parametrize(
        ("argv", "why"),
        [
            (["--results", "no/such/directory"], "no results directory"),
            (["--workers", "0"], "argument --workers: must be 1 or more, not 0"),
            (["--tests", "no/such/directory"], "name one with --tests"),
        ],
    )
    def test_wrong_use_is_told(
        self, argv: list[str], why: str, examined: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["coverage", "BertModel", *argv]) == 2
        assert why in capsys.readouterr().err

    def test_every_class_has_a_test_and_no_test_names_what_does_not_exist(self) -> None:
        assert cli.main(["coverage", "--static"]) == 0


STATIC = """
import sys, time
from testing import cli
code = cli.main(["coverage", "--static", "--json"])
heavy = {"torch", "transformers", "rich"} & set(sys.modules)
sys.exit(f"imported {heavy}, status {code}, {time.process_time()} s"
         if heavy or code or time.process_time() > 6 else 0)
"""


def test_what_is_static_is_told_at_once_and_without_torch() -> None:
    # Twice the limit of an idle machine: the processor's clock is slower when others use it.
    ended = subprocess.run(
        [sys.executable, "-c", STATIC], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["examined"] is False


def test_the_command_is_found() -> None:
    assert command in cli._commands()
