"""`skips prune`: what was found stale goes, and nothing else changes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testing import cli
from testing.audit import pruning
from testing.audit.errors import AuditError, NoAuditError, OtherVersionsError
from testing.audit.pruning import Pruning, prune
from testing.registry import DEFAULT_PATH, Entry, Registry, Skip, SkipFileError
from testing.registry.audits import Audits
from testing.registry.saving import SaveError

HERE = {"python": "3.11.1", "torch": "2.9.1"}

PLANTED = '''"""Skips."""

from testing.registry import Skip

EXPORT_SKIPS: dict[str, dict[str, str | Skip]] = {
    "neuron": {
        "BertModel": "Same as `CvtModel`.",
        # Since SDK 2.27.
        "CvtModel": "dies in trace",
        "YolosModel": "SIGSEGV",  # on every   version
    },
    # Figures.
    "neuron.exactness": {"ViTModel": "drifts"},
}

ONNX_DISABLE_OPTIMIZE: dict[str, dict[str, str | Skip]] = {}
'''


class Bench:
    """A file of skips, and findings of audits."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "skips.py"
        self.audits = directory / "audits"
        self.audits.mkdir()
        self._count = 0

    def write(self, text: str) -> None:
        self.path.write_bytes(text.encode())

    def found(
        self, *entries: str, verdict: str = "stale", versions: Any = HERE, **values: Any
    ) -> None:
        """An audit, later than those before."""
        self._count += 1
        rows = [
            {"table": "EXPORT_SKIPS", "scope": scope, "model_class": name, "verdict": verdict}
            for scope, name in (entry.split() for entry in entries)
        ]
        audit = {
            "finished": f"2026-11-30T00:00:0{self._count}+00:00",
            "versions": versions,
            "entries": [row | values for row in rows],
        }
        (self.audits / f"{self._count}.json").write_text(json.dumps(audit))

    def prune(self) -> Pruning:
        return prune(self.path, Audits.read(self.audits), HERE)

    def after(self) -> str:
        return self.prune().after.decode()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def names(found: Pruning) -> list[str]:
    return [f"{entry.scope} {entry.model_class}" for entry in found.removed]


class TestWhatGoes:
    def test_is_what_was_found_stale_and_every_other_byte_stays(self, bench: Bench) -> None:
        bench.write(PLANTED)
        bench.found("neuron BertModel", "neuron CvtModel", "neuron.exactness ViTModel")
        bench.found("neuron YolosModel", verdict="needed")
        assert bench.after() == PLANTED.replace(
            '        "BertModel": "Same as `CvtModel`.",\n', ""
        ).replace('        # Since SDK 2.27.\n        "CvtModel": "dies in trace",\n', "").replace(
            '    # Figures.\n    "neuron.exactness": {"ViTModel": "drifts"},\n', ""
        )

    @pytest.mark.parametrize("verdict", ["needed", "flaky", "too broad", "changed", "not run"])
    def test_is_nothing_else(self, bench: Bench, verdict: str) -> None:
        bench.write(PLANTED)
        bench.found("neuron CvtModel", verdict=verdict)
        found = bench.prune()
        assert (found.removed, found.after, found.diff) == ((), found.before, "")

    def test_is_what_the_last_audit_of_an_entry_says(self, bench: Bench) -> None:
        bench.write(PLANTED)
        bench.found("neuron CvtModel", "neuron YolosModel")
        bench.found("neuron YolosModel", verdict="flaky")
        bench.found("neuron CvtModel", verdict="not run")
        assert names(bench.prune()) == ["neuron CvtModel"]

    def test_is_no_neighbour_of_a_similar_name_or_another_scope(self, bench: Bench) -> None:
        bench.write(
            'EXPORT_SKIPS = {"neuron": {"MT5Model": "x", "T5Model": "x"},\n'
            '    "neuron.dynamic": {"T5Model": "x"}}\n'
        )
        bench.found("neuron T5Model")
        assert bench.after() == (
            'EXPORT_SKIPS = {"neuron": {"MT5Model": "x"},\n'
            '    "neuron.dynamic": {"T5Model": "x"}}\n'
        )

    def test_is_no_entry_that_was_written_anew_since(self, bench: Bench) -> None:
        bench.write(PLANTED)
        bench.found("neuron CvtModel", reason="another cause")
        assert bench.prune().removed == ()

    def test_a_diff_can_be_applied(self, bench: Bench) -> None:
        bench.write(PLANTED)
        bench.found("neuron CvtModel", "neuron.exactness ViTModel")
        found = bench.prune()
        below_root = bench.path.relative_to(bench.path.anchor).as_posix()
        assert f"--- a/{below_root}\n+++ b/{below_root}\n" in found.diff
        diff = found.diff.replace(below_root, bench.path.name)
        (bench.path.parent / "found.diff").write_text(diff)
        command = ["git", "apply", "-p1", "found.diff"]
        subprocess.run(command, cwd=bench.path.parent, check=True)
        assert bench.path.read_bytes() == found.after


SKIPPED = [entry for entry in Registry.load().entries if isinstance(entry.value, Skip)]


@pytest.mark.parametrize("entry", SKIPPED, ids=lambda entry: entry.model_class)
def test_of_the_shipped_file_only_the_lines_of_an_entry_go(bench: Bench, entry: Entry) -> None:
    shipped = DEFAULT_PATH.read_text(encoding="utf-8")
    bench.write(shipped)
    bench.found(f"{entry.scope} {entry.model_class}")
    found = bench.prune()
    assert found.removed == (entry,)
    if found.succession.heirs or found.succession.repointed:
        return  # Entries that referred to it take its reason, or another name.
    before, after = shipped.splitlines(), found.after.decode().splitlines()
    kept = iter(before)
    # What is left are lines of the file, in its order.
    assert all(line in kept for line in after)
    assert len(before) - len(after) >= entry.end_line - entry.line + 1


def skips(*lines: str) -> str:
    body = "".join(f"        {line}\n" for line in lines)
    return f'EXPORT_SKIPS = {{\n    "neuron": {{\n{body}    }},\n}}\n'


class TestReferences:
    def test_the_next_one_holds_the_full_reason_and_others_refer_to_it(self, bench: Bench) -> None:
        bench.write(
            skips(
                '"AModel": "Same as `CModel`.",',
                '"BModel": Skip("Same as `CModel`.", issue="https://x"),',
                '"CModel": "aten::foo dies",',
            )
        )
        bench.found("neuron CModel")
        assert bench.after() == skips(
            '"AModel": "aten::foo dies",',
            '"BModel": Skip("Same as `AModel`.", issue="https://x"),',
        )

    def test_a_reason_on_several_lines_moves_as_it_is(self, bench: Bench) -> None:
        full = ['"CModel": (', '    "aten::foo "', '    "dies"', "),"]
        bench.write(skips('"AModel": "Same as `CModel`.",', *full))
        bench.found("neuron CModel")
        assert bench.after() == skips('"AModel": (', *full[1:])

    def test_what_a_reference_told_of_its_own_class_stays(self, bench: Bench) -> None:
        words = 'Same cause on the static path as `CModel`: \\"neck\\" (modeling_a.py:7).'
        bench.write(skips(f'"AModel": "{words}",', '"CModel": "aten::foo dies.",'))
        bench.found("neuron CModel")
        assert bench.after() == skips(
            '"AModel": (',
            '    "aten::foo dies."',
            '    " \\"neck\\" (modeling_a.py:7)."',
            "),",
        )

    def test_the_reason_of_a_tolerance_is_not_its_first_argument(self, bench: Bench) -> None:
        text = (
            'TOLERANCES = {"all": {\n    "A": Tolerance(1, 1, reason="Same as `B`."),\n'
            '    "B": Tolerance(1, 1, 0, "sums of bf16"),\n}}\n'
        )
        bench.write(text)
        bench.found("all B", table="TOLERANCES")
        assert bench.after() == (
            'TOLERANCES = {"all": {\n    "A": Tolerance(1, 1, reason="sums of bf16"),\n}}\n'
        )

    def test_one_that_has_the_same_reason_is_referred_to(self, bench: Bench) -> None:
        bench.write(
            skips(
                '"AModel": "Same as `CModel`.",',
                '"BModel": "aten::foo dies",',
                '"CModel": "aten::foo dies",',
            )
        )
        bench.found("neuron CModel")
        assert bench.after() == skips(
            '"AModel": "Same as `BModel`.",', '"BModel": "aten::foo dies",'
        )

    def test_another_entry_of_the_class_is_reference_enough(self, bench: Bench) -> None:
        text = (
            'EXPORT_SKIPS = {\n    "neuron": {"AModel": "Same as `CModel`."},\n'
            '    "neuron.dynamic": {"CModel": "dies too"},\n'
            '    "neuron.static": {"CModel": "dies"},\n}\n'
        )
        bench.write(text)
        bench.found("neuron.static CModel")
        assert bench.after() == text.replace('    "neuron.static": {"CModel": "dies"},\n', "")

    def test_a_scope_that_has_no_case_in_common_holds_its_own_reason(self, bench: Bench) -> None:
        bench.write(
            'EXPORT_SKIPS = {\n    "neuron": {"CModel": "dies"},\n'
            '    "neuron.dynamic": {"AModel": "Same as `CModel`."},\n'
            '    "neuron.static": {"BModel": "Same as `CModel`."},\n}\n'
        )
        bench.found("neuron CModel")
        assert bench.after() == (
            'EXPORT_SKIPS = {\n    "neuron.dynamic": {"AModel": "dies"},\n'
            '    "neuron.static": {"BModel": "dies"},\n}\n'
        )

    def test_what_is_left_can_be_read_and_means_the_same(self, bench: Bench) -> None:
        # Characters of several bytes stand before what is replaced.
        bench.write(
            skips('"AModel": Skip("Same as `CModel`."),  # é', '"CModel": Skip(reason="é dies"),')
        )
        bench.found("neuron CModel")
        assert bench.after() == skips('"AModel": Skip("é dies"),  # é')


class TestRefusals:
    def test_without_an_audit(self, bench: Bench) -> None:
        bench.write(PLANTED)
        with pytest.raises(NoAuditError, match="run `export-harness skips audit` first"):
            bench.prune()

    def test_of_an_audit_of_other_versions(self, bench: Bench) -> None:
        bench.write(PLANTED)
        bench.found("neuron CvtModel", versions={**HERE, "torch": "2.8.0", "optimum": "2.0"})
        told = "optimum 2.0, here absent, torch 2.8.0, here 2.9.1"
        with pytest.raises(OtherVersionsError, match=told):
            bench.prune()

    def test_of_a_part_that_was_audited_with_other_versions(self, bench: Bench) -> None:
        bench.write(PLANTED)
        bench.found("neuron CvtModel", "neuron BertModel", versions={**HERE, "torch": "2.8.0"})
        bench.found("neuron BertModel")
        found = bench.prune()
        assert names(found) == ["neuron BertModel"]
        assert [entry.model_class for entry in found.outdated] == ["CvtModel"]

    def test_of_an_audit_that_cannot_be_read(self, bench: Bench) -> None:
        bench.write(PLANTED)
        bench.found("neuron CvtModel")
        (bench.audits / "torn.json").write_text('{"finished": "2026')
        with pytest.raises(AuditError, match="torn.json.*delete it, audit again"):
            bench.prune()

    @pytest.mark.parametrize(
        "text",
        ["EXPORT_SKIPS = {", 'EXPORT_SKIPS = {"nueron": {"A": "x"}}', "EXPORT_SKIPS = {}\r\n"],
    )
    def test_of_a_file_with_problems(self, bench: Bench, text: str) -> None:
        bench.write(text)
        bench.found("neuron CvtModel")
        with pytest.raises(SkipFileError, match=r"skips\.py:1: "):
            bench.prune()

    def test_of_a_file_that_was_edited_meanwhile(self, bench: Bench) -> None:
        bench.write(PLANTED)
        bench.found("neuron CvtModel")
        found = bench.prune()
        edited = PLANTED + "# mine\n"
        bench.write(edited)
        with pytest.raises(SaveError, match="has changed meanwhile"):
            found.apply()
        assert bench.path.read_bytes() == edited.encode()


class TestCommand:
    @pytest.fixture
    def command(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
        monkeypatch.setattr("testing.audit.journal.versions_here", lambda: HERE)
        places = ["--skips", str(bench.path), "--audits", str(bench.audits)]
        return lambda *argv: cli.main(["skips", "prune", *places, *argv])

    def test_it_shows_a_diff_and_writes_nothing(
        self, bench: Bench, command: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bench.write(PLANTED)
        bench.found("neuron CvtModel")
        assert command() == 1
        told = capsys.readouterr().out
        assert '-        "CvtModel": "dies in trace",\n' in told
        assert '+        "BertModel": "dies in trace",\n' in told
        assert bench.path.read_text() == PLANTED

    def test_with_apply_it_writes_and_is_done(self, bench: Bench, command: Any) -> None:
        bench.write(PLANTED)
        bench.found("neuron CvtModel", "neuron BertModel")
        assert command("--apply") == 0
        assert "CvtModel" not in bench.path.read_text()
        assert command("--apply") == 0

    def test_a_read_only_file_is_left_as_it_is(
        self, bench: Bench, command: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bench.write(PLANTED)
        bench.path.chmod(0o444)
        bench.found("neuron CvtModel")
        assert command("--apply") == 2
        assert "is read-only and was left as it is" in capsys.readouterr().err
        assert bench.path.read_text() == PLANTED

    def test_json_has_what_goes(
        self, bench: Bench, command: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bench.write(PLANTED)
        bench.found("neuron CvtModel")
        assert command("--json") == 1
        found = json.loads(capsys.readouterr().out)
        assert found["removed"] == ['EXPORT_SKIPS["neuron"]["CvtModel"]']
        assert found["given_the_full_reason"] == ['EXPORT_SKIPS["neuron"]["BertModel"]']
        assert found["applied"] is False

    def test_where_nothing_is_stale_nothing_is_to_be_done(
        self, bench: Bench, command: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bench.write(PLANTED)
        bench.found("neuron CvtModel", verdict="needed")
        assert command() == 0
        assert "no entry is known to be stale" in capsys.readouterr().err


def test_what_would_lose_more_than_it_should_is_not_done(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write(PLANTED)
    bench.found("neuron CvtModel")
    monkeypatch.setattr(pruning, "inherited", lambda before, text, heirs: "EXPORT_SKIPS = {}\n")
    with pytest.raises(AuditError, match="could not be pruned safely"):
        bench.prune()
