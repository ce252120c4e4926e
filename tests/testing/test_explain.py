"""``skips explain`` and ``skips list``: what runs, which entries apply, why, and since when."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exporters.base import Variant
from exporters.onnx import OnnxBackend
from testing import cli
from testing.cases import ExportCase
from testing.registry import Registry
from testing.registry.audits import Audits
from testing.registry.blame import blame
from testing.registry.skip_file import read

ROOT = Path(__file__).parents[2]

SKIPS = """from testing.registry import Skip, Tolerance

EXPORT_SKIPS = {
    "all": {
        "BertModel": Skip("old torch", when="torch<1"),
        "MT5Model": "not of T5",
    },
    "exactness": {
        "T5Model": "drifts by 2e-3",
    },
    "neuron": {
        "BertModel": Skip("dies in trace", issue="https://github.com/a/b/issues/7"),
        "CvtModel": "Same as `BertModel`.",
    },
    "neuron.static": {
        "BertModel": Skip("reads the mask", kind="wontfix", until="2099-12-31"),
    },
    "onnx": {
        "BertModel": "folds a Resize",
    },
    "xla.dynamic": {
        "ViTModel": Skip("aten::roll", kind="slow", component="vision"),
    },
}
TOLERANCES = {
    "neuron": {
        "T5Model": Tolerance(1e-2, 1e-2, reason="sums of bf16"),
    },
}
"""

Run = Callable[..., Any]


@pytest.fixture
def skips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # No repository above the directory of the test counts.
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    file = tmp_path / "skips.py"
    file.write_text(SKIPS)
    return file


@pytest.fixture
def ask(skips: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*argv: str) -> Any:
        assert cli.main(["skips", *argv, "--skips", "skips.py", "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def line_of(text: str) -> int:
    return SKIPS[: SKIPS.index(text)].count("\n") + 1


def commit(file: Path, day: str, summary: str) -> None:
    """Commit the file as it is, at noon of a day."""
    moment = f"{day}T12:00:00+00:00"
    people = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", moment))
    }
    for command in (["init", "-q"], ["add", file.name], ["commit", "-q", "-m", summary]):
        subprocess.run(
            ["git", *command], cwd=file.parent, env={**os.environ, **people}, check=True
        )


class TestVariants:
    def test_each_says_whether_it_runs_and_which_entries_say_so(self, ask: Run) -> None:
        found = {v["case"]: v for v in ask("explain", "BertModel")["variants"]}
        static, dynamic = found["neuron/xla static"], found["neuron/xla dynamic"]
        assert (static["runs"], static["skipped_by"]) == (False, "neuron")
        assert [e["scope"] for e in static["entries"]] == ["all", "neuron", "neuron.static"]
        assert (dynamic["runs"], dynamic["skipped_by"]) == (False, "neuron")
        assert [e["scope"] for e in dynamic["entries"]] == ["all", "neuron"]

    def test_they_are_those_of_the_registry(self, ask: Run, skips: Path) -> None:
        for name in ("BertModel", "T5Model", "ViTModel", "GPT2Model"):
            for variant in ask("explain", name)["variants"]:
                engine, *words = variant["case"].split()
                backend, _, runtime = engine.partition("/")
                case = ExportCase(
                    name,
                    None,
                    backend,
                    runtime or None,
                    dynamic="dynamic" in words,
                    generate="generate" in words,
                    static_cache="static-cache" in words,
                )
                assert variant["runs"] is (Registry.load(skips).skip_for(case) is None)

    def test_exactness_lets_it_run(self, ask: Run) -> None:
        found = ask("explain", "T5Model")
        assert {(v["runs"], v["exact"]) for v in found["variants"]} == {(True, False)}
        [static] = [v for v in found["variants"] if v["case"] == "neuron/xla static"]
        tables = [(e["table"], e["scope"]) for e in static["entries"]]
        assert tables == [("EXPORT_SKIPS", "exactness"), ("TOLERANCES", "neuron")]

    def test_a_component_is_not_the_whole(self, ask: Run) -> None:
        found = {v["case"]: v for v in ask("explain", "ViTModel")["variants"]}
        assert found["neuron/xla dynamic"]["runs"] is True
        assert [e["scope"] for e in found["neuron/xla dynamic"]["entries"]] == ["xla.dynamic"]

    # B37
    def test_names_match_whole(self, ask: Run) -> None:
        entries = ask("explain", "T5Model")["entries"]
        assert [e["model_class"] for e in entries] == ["T5Model"] * 2

    def test_every_backend_has_some_and_each_delegate_its_own(self, ask: Run) -> None:
        engines = {v["case"].split()[0] for v in ask("explain", "GPT2Model")["variants"]}
        neuron = {"neuron/neuronx", "neuron/xla"}
        executorch = {"executorch/xnnpack", "executorch/mlx"}
        assert engines == neuron | executorch | {"dynamo", "onnx", "openvino"}

    def test_what_says_nothing_of_any_model_does_not_run(
        self, ask: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def not_applicable(self: object, variant: Variant) -> str | None:
            return "it cannot grow" if variant.dynamic else None

        monkeypatch.setattr(OnnxBackend, "not_applicable", not_applicable)
        found = ask("explain", "GPT2Model", "--backend", "onnx")["variants"]
        told = {(v["runs"], v["not_applicable"]) for v in found}
        assert told == {(True, None), (False, "it cannot grow")}

    def test_a_class_without_entries_runs(self, ask: Run) -> None:
        found = ask("explain", "GPT2Model")
        assert found["entries"] == []
        assert all(v["runs"] for v in found["variants"])


class TestEntries:
    def test_they_are_in_order_from_broad_to_narrow(self, ask: Run) -> None:
        entries = ask("explain", "BertModel")["entries"]
        assert [e["scope"] for e in entries] == ["all", "neuron", "onnx", "neuron.static"]
        assert [e["holds"] for e in entries] == [False, True, True, True]
        assert entries[1]["line"] == line_of('"BertModel": Skip("dies in trace"')
        assert entries[1]["issue"] == "https://github.com/a/b/issues/7"

    def test_only_a_backend_that_was_asked_for_counts(self, ask: Run) -> None:
        found = ask("explain", "BertModel", "--backend", "onnx")
        assert [e["scope"] for e in found["entries"]] == ["all", "onnx"]
        assert [v["case"] for v in found["variants"] if v["case"].startswith("neuron")] == []

    def test_a_reference_is_followed_to_its_cause(self, ask: Run) -> None:
        [entry] = ask("explain", "CvtModel")["entries"]
        assert entry["cause"] == {
            "line": line_of('"BertModel": Skip("dies in trace"'),
            "reason": "dies in trace",
        }

    def test_a_person_reads_them_in_words(
        self, skips: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["skips", "explain", "BertModel", "--skips", "skips.py"]) == 0
        told = capsys.readouterr().out
        assert re.search(r"^  neuron/xla static +skipped +entries 1, 2, 4$", told, re.MULTILINE)
        assert '4. EXPORT_SKIPS["neuron.static"], skips.py:' in told
        assert "   reads the mask\n   kind: wontfix\n   until: 2099-12-31\n" in told
        assert "   when: torch<1, which does not hold here\n" in told
        assert "   since: not known to git\n   last audit: none\n" in told


class TestSince:
    def test_it_is_the_commit_of_the_entry(self, ask: Run, skips: Path) -> None:
        commit(skips, "2025-03-01", "First entries")
        skips.write_text(
            SKIPS.replace('"onnx": {', '"onnx": {\n        "AlbertModel": "a Resize",')
        )
        commit(skips, "2026-03-01", "Albert too")
        skips.write_text(skips.read_text().replace('"MT5Model": "not', '"MT5Model": "surely not'))
        since = {(e["scope"], e["model_class"]): e["since"] for e in ask("list")["entries"]}
        assert since["onnx", "BertModel"]["date"] == "2025-03-01"
        assert since["onnx", "AlbertModel"]["date"] == "2026-03-01"
        assert since["onnx", "AlbertModel"]["summary"] == "Albert too"
        assert since["all", "MT5Model"] is None

    def test_an_entry_that_moved_keeps_its_age(self, skips: Path) -> None:
        skips.write_text(SKIPS)
        commit(skips, "2025-03-01", "First entries")
        head, block, tail = SKIPS.partition(
            '    "onnx": {\n        "BertModel": "folds a Resize",\n    },\n'
        )
        skips.write_text(head.replace('    "all": {', block + '    "all": {') + tail)
        commit(skips, "2026-03-01", "Moved")
        commits = blame(skips)
        assert commits is not None
        assert {str(c.date) for c in commits.values()} == {"2025-03-01"}

    def test_a_link_has_the_history_of_what_it_leads_to(self, skips: Path) -> None:
        commit(skips, "2025-03-01", "First entries")
        link = skips.parent / "elsewhere" / "linked.py"
        link.parent.mkdir()
        link.symlink_to(skips)
        assert blame(skips)
        assert blame(link) == blame(skips)

    def test_without_a_repository_nobody_can_say(self, skips: Path) -> None:
        assert blame(skips) is None

    def test_nor_without_git(self, skips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        commit(skips, "2025-03-01", "First entries")
        assert blame(skips)
        monkeypatch.setenv("PATH", str(skips.parent))
        assert blame(skips) is None


class TestLastAudit:
    @staticmethod
    def store(name: str, finished: str, *entries: dict[str, Any]) -> None:
        Path("build/audit").mkdir(parents=True, exist_ok=True)
        audit = {"finished": finished, "versions": {"torch": "2.9.1"}, "entries": entries}
        Path("build/audit", name).write_text(json.dumps(audit))

    @staticmethod
    def entry(scope: str, verdict: str, **more: Any) -> dict[str, Any]:
        key = {"table": "EXPORT_SKIPS", "scope": scope, "model_class": "BertModel"}
        return {**key, "verdict": verdict, **more}

    def test_it_is_the_latest_that_could_run_the_entry(self, ask: Run) -> None:
        self.store("b.json", "2026-01-01T00:00:00", self.entry("neuron", "stale"))
        self.store(
            "a.json", "2026-02-01T00:00:00", self.entry("neuron", "needed", message="5 of 5")
        )
        self.store(
            "c.json",
            "2026-03-01T00:00:00",
            self.entry("neuron", "not run"),
            self.entry("onnx", "not run"),
        )
        entries = ask("explain", "BertModel")["entries"]
        last = {e["scope"]: e["last_audit"] for e in entries}
        assert (last["neuron"]["verdict"], last["neuron"]["message"]) == ("needed", "5 of 5")
        assert last["neuron"]["versions"] == {"torch": "2.9.1"}
        assert last["onnx"]["verdict"] == "not run"
        assert last["neuron.static"] is None

    def test_it_is_told_with_what_would_do(
        self, skips: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        found = self.entry("neuron", "too broad", proposed_scope="neuron.dynamic")
        self.store("a.json", "2026-01-01T00:00:00", found)
        assert cli.main(["skips", "explain", "BertModel", "--skips", "skips.py"]) == 0
        told = "2026-01-01T00:00:00 too broad (neuron.dynamic would do)\n     with torch 2.9.1\n"
        assert f"   last audit: {told}" in capsys.readouterr().out

    def test_it_is_told_with_what_was_seen_and_asked_for(
        self, skips: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        found = self.entry("neuron", "changed", message="died " * 30 + "\nB", changes=["stage b"])
        self.store("a.json", "2026-01-01T00:00:00", found)
        file = Path("build/audit/a.json")
        settings = {"time_limit": 1.0, "trace_patches": "off", "lowering_guard": False}
        file.write_text(json.dumps({**json.loads(file.read_text()), "settings": settings}))
        assert cli.main(["skips", "explain", "BertModel", "--skips", "skips.py"]) == 0
        lines = capsys.readouterr().out.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("   last audit: 2026"))
        assert max(map(len, lines[start:])) <= 92
        assert lines[start + 1].startswith("     died died")
        assert lines[start + 2].startswith("       died")
        assert lines[start + 3 : start + 6] == [
            "     B",
            "     another cause than the reason names: stage b",
            "     with torch 2.9.1, --time-limit 1.0, --trace-patches off, --lowering-guard off",
        ]

    @pytest.mark.parametrize("text", ["{", "[]", '{"entries": [{}]}', '{"finished": "x"}', "\xff"])
    def test_a_file_that_is_no_audit_is_named_and_left_aside(
        self, skips: Path, capsys: pytest.CaptureFixture[str], text: str
    ) -> None:
        self.store("a.json", "2026-01-01T00:00:00", self.entry("neuron", "needed"))
        Path("build/audit/b.json").write_bytes(text.encode("latin-1"))
        assert cli.main(["skips", "explain", "BertModel", "--skips", "skips.py"]) == 0
        told = capsys.readouterr()
        assert "needed" in told.out
        assert told.err.startswith("not an audit: build/audit/b.json: ")

    def test_no_directory_is_no_audit(self, tmp_path: Path) -> None:
        assert Audits.read(tmp_path / "gone") == Audits()


class TestList:
    @pytest.mark.parametrize(
        ("filters", "lines"),
        [
            (
                ["--scope", "neuron"],
                ["dies in trace", "Same as", "reads the mask", "aten::roll", "sums"],
            ),
            (["--scope", "neuron.static"], ["reads the mask"]),
            (["--scope", "exactness"], ["drifts"]),
            (["--kind", "wontfix"], ["reads the mask"]),
            (["--issue", "issues/7"], ["dies in trace"]),
            (["--scope", "neuron", "--kind", "bug"], ["dies in trace", "Same as"]),
        ],
    )  # fmt: skip
    def test_every_filter_must_hold(self, ask: Run, filters: list[str], lines: list[str]) -> None:
        entries = ask("list", *filters)["entries"]
        assert [e["line"] for e in entries] == [line_of(text) for text in lines]

    def test_without_a_filter_it_is_every_entry(self, ask: Run, skips: Path) -> None:
        assert len(ask("list")["entries"]) == len(read(skips).entries)

    def test_age_is_that_of_the_line(self, ask: Run, skips: Path) -> None:
        commit(skips, "2020-03-01", "First entries")
        skips.write_text(SKIPS.replace('"all": {', '"all": {\n        "AlbertModel": "dies now",'))
        old = ask("list", "--older-than", "365")["entries"]
        new = ask("list", "--newer-than", "365")["entries"]
        assert [e["model_class"] for e in new] == ["AlbertModel"]
        assert len(old) + len(new) == len(read(skips).entries)

    def test_a_person_reads_an_entry_a_line(
        self, skips: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["skips", "list", "--kind", "wontfix", "--skips", "skips.py"]) == 0
        first, last = capsys.readouterr().out.splitlines()
        line = line_of("reads the mask")
        assert first.split() == (
            f"skips.py:{line} neuron.static BertModel wontfix - reads the mask".split()
        )
        assert last == "1 entry"

    # B34
    @pytest.mark.parametrize("options", [[], ["--json"]])
    @pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
    def test_characters_that_a_terminal_lacks_are_shown_escaped(
        self, skips: Path, options: list[str], encoding: str
    ) -> None:
        skips.write_text(
            'EXPORT_SKIPS = {"all": {"BertModel": "\\ud800 | <&\\x00 \\U0001f600 … dies"}}'
        )
        ended = subprocess.run(
            [sys.executable, "-m", "testing.cli", "skips", "list", "--skips", skips, *options],
            env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        )
        told = ended.stdout.decode(encoding)
        assert "\\ud800" in told
        if options:
            [entry] = json.loads(told)["entries"]
            assert entry["reason"] == "\ud800 | <&\x00 \U0001f600 … dies"


class TestWrongUse:
    @pytest.mark.parametrize(
        ("argv", "says"),
        [
            (["explain", "BertModle"], "nearest: BertModel"),
            (["explain", "BertModel", "--backend", "nueron"], "no backend is called 'nueron'"),
            (["list", "--scope", "nueron"], "did you mean 'neuron'"),
            (["list", "--older-than", "3"], "git does not know skips.py"),
            (["list", "--kind", "unheard-of"], "invalid choice"),
            (["list", "--older-than", "soon"], "must be a number of days"),
        ],
    )
    def test_it_says_what_to_write(
        self, skips: Path, capsys: pytest.CaptureFixture[str], argv: list[str], says: str
    ) -> None:
        assert cli.main(["skips", *argv, "--skips", "skips.py"]) == 2
        assert says in capsys.readouterr().err

    @pytest.mark.parametrize("command", [["explain", "BertModel"], ["list"]])
    def test_a_file_with_problems_is_named_with_the_line(
        self, skips: Path, capsys: pytest.CaptureFixture[str], command: list[str]
    ) -> None:
        skips.write_text('EXPORT_SKIPS = {\n"all" {}}')
        assert cli.main(["skips", *command, "--skips", "skips.py"]) == 2
        assert "skips.py:2: " in capsys.readouterr().err

    def test_skips_alone_names_its_commands(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["skips"]) == 2
        assert "explain, lint, list" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["explain", "VitsModel"], ["explain", "BertModel"], ["list"]])
def test_it_answers_at_once_and_imports_nothing_large(command: list[str]) -> None:
    code = (
        "import sys; from testing import cli\n"
        f"assert cli.main(['skips', *{command!r}]) == 0\n"
        "loaded = {'torch', 'transformers', 'pytest', 'libcst', 'rich'} & set(sys.modules)\n"
        "assert not loaded, loaded"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Seconds of the processor: those of the clock depend on what else runs.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.5
