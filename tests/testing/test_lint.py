"""``skips lint``: every kind of finding, on the right line, and nothing on the shipped file."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from testing import cli, released
from testing.lint import Linter
from testing.lint.rules import all_rules
from testing.registry import DEFAULT_PATH, Registry, problems
from testing.registry.conditions import Condition
from testing.registry.supported import PYTHONS, impossible_part

ROOT = Path(__file__).parents[2]

# The line on which each is to be found ends in `# here`. Their scope is the last by the alphabet.
PLANTS = {
    "unknown-scope": """
    "xnnpak": {  # here
        "BertModel": "dies in trace",
    },
""",
    "unknown-class": """
    "xnnpack": {
        "RobertaModle": "dies in trace",  # here
    },
""",
    "duplicate-key": """
    "xnnpack": {
        "BertModel": "dies in trace",
        "BertModel": "drifts by 2e-3",  # here
    },
""",
    "empty-reason": """
    "xnnpack": {
        "BertModel": "",  # here
    },
""",
    "dangling-reference": """
    "xnnpack": {
        "BertModel": "Same as `CvtModel`.",  # here
    },
""",
    "chained-reference": """
    "xnnpack": {
        "BertModel": "Same as `CvtModel`.",  # here
        "CvtModel": "Same op as `ViTModel`, in the projection.",
        "ViTModel": "aten::roll has no lowering",
    },
""",
    "shadowed": """
    "xnnpack": {
        "BertModel": "dies in trace",
    },
    "xnnpack.static": {
        "BertModel": "drifts by 2e-3",  # here
    },
""",
    "expired": """
    "xnnpack": {
        "BertModel": Skip("dies in trace", until="2020-01-31"),  # here
    },
""",
    "impossible-when": """
    "xnnpack": {
        "BertModel": Skip("dies in trace", when="transformers<4"),  # here
    },
""",
    "wrong-type": """
    "xnnpack": {
        "BertModel": ["dies in trace"],  # here
    },
""",
}


VERSION = st.builds("2.{}.{}".format, st.integers(6, 14), st.integers(0, 5))
ORDERS = ["<", "<=", ">", ">="]
DIES = '"dies in trace"'
DRIFTS = '"drifts by 2e-3"'


def planted(directory: Path, *blocks: str) -> Path:
    """A copy of the shipped file with scopes more at the end of ``EXPORT_SKIPS``."""
    head, end, tail = DEFAULT_PATH.read_text(encoding="utf-8").partition("\n}\n")
    file = directory / "skips.py"
    added = "".join(block.rstrip("\n") for block in blocks)
    file.write_text(head + added + end + tail, encoding="utf-8", newline="")
    return file


def line_of(file: Path, text: str = "# here") -> int:
    lines = file.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[dict[str, Any]]]:
    def run(file: Path, *more: str) -> list[dict[str, Any]]:
        status = cli.main(["skips", "lint", "--skips", str(file), "--json", *more])
        findings: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
        assert status == (1 if findings else 0)
        return findings

    return run


def lint_text(text: str, **more: Any) -> list[tuple[int, str]]:
    linter = Linter(Path("skips.py"), more.pop("today", date(2026, 11, 30)), **more)
    return [(p.line, p.code.name) for p in linter.lint(text.encode()).problems]


def fixed(text: str) -> str:
    return Linter(Path("skips.py"), date(2026, 11, 30)).fix(text.encode()).data.decode()


class TestPlants:
    @pytest.mark.parametrize("name", PLANTS)
    def test_each_is_found_alone_on_its_line(
        self, name: str, tmp_path: Path, lint: Callable[..., Any]
    ) -> None:
        file = planted(tmp_path, PLANTS[name])
        assert [(f["name"], f["line"]) for f in lint(file)] == [(name, line_of(file))]

    def test_all_are_found_in_one_file(self, tmp_path: Path, lint: Callable[..., Any]) -> None:
        file = planted(
            tmp_path,
            """
    "xnnpack": {
        "AlbertModel": "Same as `BeitModel`.",  # dangling-reference
        "BartModel": "Same as `BertModel`.",  # chained-reference
        "BertModel": "Same as `CanineModel`.",
        "CanineModel": "aten::roll has no lowering",
        "CvtModel": Skip("dies in trace", until="2020-01-31"),  # expired
        "DebertaModel": "",  # empty-reason
        "DeiTModel": ["dies in trace"],  # wrong-type
        "RobertaModle": "dies in trace",  # unknown-class
        "T5Model": "dies in trace",
        "T5Model": "drifts by 2e-3",  # duplicate-key
        "ViTModel": Skip("dies in trace", when="transformers<4"),  # impossible-when
    },
    "xnnpack.static": {
        "T5Model": "drifts by 2e-3",  # shadowed
    },
    "xnnpak.static": {  # unknown-scope
        "T5Model": "drifts by 2e-3",
    },
""",
        )
        expected = {name: line_of(file, f"# {name}") for name in PLANTS}
        found = [(f["name"], f["line"]) for f in lint(file)]
        assert sorted(found) == sorted(expected.items())

    def test_the_shipped_file_has_none(self, lint: Callable[..., Any]) -> None:
        assert lint(DEFAULT_PATH) == []

    def test_what_is_wrong_under_an_unknown_scope_is_found_too(self) -> None:
        text = 'EXPORT_SKIPS = {\n"nueron": {\n"BertModel": "",\n"T5Model": 3}}'
        assert [line for line, _ in lint_text(text)] == [2, 3, 4]


class TestNames:
    def test_the_nearest_is_named(self, tmp_path: Path, lint: Callable[..., Any]) -> None:
        [found] = lint(planted(tmp_path, PLANTS["unknown-class"]))
        assert found["nearest"][0] == "RobertaModel"

    def test_one_that_any_supported_version_has_is_known(self) -> None:
        oldest, *_, latest = (released.classes_by_type(v) for v in released.versions())
        old, new = ({n for names in v.values() for n in names} for v in (oldest, latest))
        for name in (min(old - new), min(new - old)):
            assert lint_text(f'EXPORT_SKIPS = {{"all": {{"{name}": "dies in trace"}}}}') == []

    def test_one_that_only_a_modeling_file_defines_is_known(self) -> None:
        # No auto mapping has it.
        name = "BertEncoder"
        assert name not in released.classes()
        assert lint_text(f'EXPORT_SKIPS = {{"all": {{"{name}": "dies in trace"}}}}') == []

    # B37: a name is no beginning of another.
    @pytest.mark.parametrize("name", ["T5ModelForX", "BertModelWithY", "XT5Model"])
    def test_one_that_begins_as_a_class_does_is_unknown(self, name: str) -> None:
        text = f'EXPORT_SKIPS = {{"all": {{"{name}": "dies in trace"}}}}'
        assert lint_text(text) == [(1, "unknown-class")]

    # B40
    @pytest.mark.parametrize(
        ("written", "shown"),
        [
            ("BertModel ", "'BertModel '"),
            ("Bert\u200bModel", r"'Bert\u200bModel'"),
            ("BertModel\\u00a0", r"'BertModel\xa0'"),
            ("B\u0435rtModel", r"'B\u0435rtModel'"),
            ("bertmodel", "'bertmodel'"),
        ],
    )
    def test_what_cannot_be_seen_in_one_is_shown(self, written: str, shown: str) -> None:
        text = f'EXPORT_SKIPS = {{\n"all": {{\n"{written}": "dies in trace"}}}}'
        report = Linter(Path("skips.py"), date(2026, 11, 30)).lint(text.encode())
        [found] = report.problems
        assert (found.line, found.code) == (3, problems.BAD_NAME)
        assert shown in found.message
        assert found.nearest[0] == "BertModel"

    def test_one_without_a_test_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "test_some.py").write_text(
            'class ATest:\n    all_model_classes = ("BertModel", GPT2Model)\n'
            'class BTest:\n    model_type = "vit"\n'
        )
        names = ["BertModel", "CvtModel", "GPT2Model", "ViTModel"]
        entries = "\n".join(f'"{name}": "dies in trace",' for name in names)
        text = f'EXPORT_SKIPS = {{"all": {{\n{entries}\n}}}}'
        assert lint_text(text, tests=tmp_path) == [(3, "untested-class")]

    def test_areas_from_which_tests_are_made_count(self, tmp_path: Path) -> None:
        (tmp_path / "areas.py").write_text('AREAS: dict = {"text": ("bert",)}\n')
        (tmp_path / "test_text.py").write_text('export_tests(__name__, AREAS["text"])\n')
        text = (
            'EXPORT_SKIPS = {"all": {\n"BertModel": "dies in trace",\n"CvtModel": "dies in run"}}'
        )
        assert lint_text(text, tests=tmp_path) == [(3, "untested-class")]
        (tmp_path / "test_unsorted.py").write_text("export_tests(__name__, unsorted_types(()))\n")
        assert lint_text(text, tests=tmp_path) == []


class TestReasons:
    @pytest.mark.parametrize("reason", ["x", "bug", "TODO", "fails", "?!… ???", "Same as above."])
    def test_one_that_says_nothing_is_found(self, reason: str) -> None:
        text = f'EXPORT_SKIPS = {{"all": {{\n"BertModel": "{reason}"}}}}'
        assert lint_text(text) == [(2, "short-reason")]

    @pytest.mark.parametrize("reason", ["drifts", "SIGSEGV", "dies in trace"])
    def test_a_few_words_may_say_enough(self, reason: str) -> None:
        assert lint_text(f'EXPORT_SKIPS = {{"all": {{"BertModel": "{reason}"}}}}') == []


class TestReferences:
    @staticmethod
    def entries(*rows: str) -> str:
        return "EXPORT_SKIPS = {\n" + "\n".join(rows) + "\n}"

    @pytest.mark.parametrize(
        ("referring", "holding"),
        [
            ("neuron", "neuron"),
            ("neuron.static", "neuron"),
            ("neuron", "neuron.static"),
            ("neuron.xla", "neuron.static"),
            ("static", "neuron"),
            ("neuron.exactness", "exactness"),
        ],
    )
    def test_it_may_be_to_a_scope_with_a_case_in_common(
        self, referring: str, holding: str
    ) -> None:
        assert "dangling-reference" not in self.names_of(referring, holding)

    @pytest.mark.parametrize(
        ("referring", "holding"),
        [
            ("neuron", "onnx"),
            ("neuron.static", "neuron.dynamic"),
            ("forward", "static-cache"),
            ("xla", "onnx"),
            ("neuron.exactness", "neuron"),
        ],
    )
    def test_it_may_not_be_to_other_cases(self, referring: str, holding: str) -> None:
        assert "dangling-reference" in self.names_of(referring, holding)

    def names_of(self, referring: str, holding: str) -> list[str]:
        first = '"BertModel": "Same as `CvtModel`."'
        second = '"CvtModel": "dies in trace"'
        if referring == holding:
            rows = [f'"{referring}": {{{first}, {second}}},']
        else:
            rows = [f'"{referring}": {{{first}}},', f'"{holding}": {{{second}}},']
        return [name for _, name in lint_text(self.entries(*rows))]

    def test_each_of_a_circle_is_found(self) -> None:
        text = self.entries(
            '"all": {',
            '"AlbertModel": "Same as `BertModel`.",',
            '"BertModel": "Same op as `CvtModel`.",',
            '"CvtModel": "Same as `BertModel`.",',
            '"ViTModel": "Same as `ViTModel`."},',
        )
        assert lint_text(text) == [(line, "circular-reference") for line in (3, 4, 5, 6)]

    def test_a_full_reason_under_any_scope_that_counts_ends_it(self) -> None:
        text = self.entries(
            '"neuron": {"BertModel": "Same as `CvtModel`."},',
            '"neuron.dynamic": {"CvtModel": "Same as `BertModel`."},',
            '"neuron.static": {"CvtModel": "dies in trace"},',
        )
        assert (2, "circular-reference") not in lint_text(text)

    def test_a_chain_to_other_cases_is_left_to_a_person(self) -> None:
        text = self.entries(
            '"neuron": {"CvtModel": "Same as `ViTModel`."},',
            '"neuron.dynamic": {"ViTModel": "dies in trace"},',
            '"neuron.static": {"BertModel": "Same as `CvtModel`."},',
        )
        assert lint_text(text) == [(4, "chained-reference")]
        assert fixed(text) == text

    def test_a_chain_that_ends_nowhere_is_found_twice(self) -> None:
        text = self.entries(
            '"all": {',
            '"BertModel": "Same as `CvtModel`.",',
            '"CvtModel": "Same as `ViTModel`."},',
        )
        assert lint_text(text) == [(3, "chained-reference"), (4, "dangling-reference")]

    def test_a_table_refers_to_itself_alone(self) -> None:
        text = (
            'EXPORT_SKIPS = {"onnx": {"CvtModel": "dies in trace"}}\n'
            'ONNX_DISABLE_OPTIMIZE = {"onnx": {"BertModel": "Same as `CvtModel`."}}'
        )
        assert lint_text(text) == [(2, "dangling-reference")]


class TestShadowing:
    @pytest.mark.parametrize(
        ("broad", "broad_entry", "narrow", "narrow_entry", "is_shadowed"),
        [
            ("neuron", DIES, "neuron.exactness", DRIFTS, True),
            ("neuron", DIES, "xla", DRIFTS, True),
            ("neuron", DIES, "onnx", DRIFTS, False),
            ("exactness", DRIFTS, "neuron", DIES, False),
            ("neuron", 'Skip("dies in trace", when="torch<2.9")', "xla", DRIFTS, False),
            ("neuron", 'Skip("dies in trace", component="vision")', "xla", DRIFTS, False),
            ("neuron", DIES, "xla", 'Skip("drifts", when="torch<2.9")', True),
            ("neuron", DIES, "xla", 'Skip("drifts", component="vision")', True),
        ],
    )
    def test_it_is_where_another_applies_to_every_case(
        self, broad: str, broad_entry: str, narrow: str, narrow_entry: str, is_shadowed: bool
    ) -> None:
        text = (
            f'EXPORT_SKIPS = {{\n"{broad}": {{"BertModel": {broad_entry}}},\n'
            f'"{narrow}": {{"BertModel": {narrow_entry}}},\n}}'
        )
        assert ((3, "shadowed") in lint_text(text)) is is_shadowed

    def test_an_entry_of_another_class_does_not(self) -> None:
        text = f'EXPORT_SKIPS = {{"all": {{"T5Model": {DIES}}}, "xla": {{"MT5Model": {DIES}}}}}'
        assert lint_text(text) == []

    def test_of_two_scopes_that_are_the_same_the_second_is_found(self) -> None:
        text = (
            'EXPORT_SKIPS = {\n"neuron.xla": {"BertModel": "dies in trace"},\n'
            '"xla": {"BertModel": "dies in trace"},\n}'
        )
        assert lint_text(text) == [(3, "shadowed")]

    def test_tolerances_are_refined_and_not_shadowed(self) -> None:
        text = (
            'TOLERANCES = {"neuron": {"BertModel": Tolerance(1, 1, reason="sums of bf16")},\n'
            '"neuron.static": {"BertModel": Tolerance(2, 2, reason="sums of bf16")}}'
        )
        assert lint_text(text) == []


class TestConditions:
    @pytest.mark.parametrize(("today", "found"), [((2026, 12, 31), []), ((2027, 1, 1), [1])])
    def test_a_date_is_good_to_its_end(
        self, today: tuple[int, int, int], found: list[int]
    ) -> None:
        text = 'EXPORT_SKIPS = {"all": {"BertModel": Skip("dies in trace", until="2026-12-31")}}'
        assert [line for line, _ in lint_text(text, today=date(*today))] == found

    @pytest.mark.parametrize(
        ("when", "part"),
        [
            ("torch-neuronx<2.9", None),
            ("torch-neuronx>=2.9.0.2.15.32035", None),
            ("transformers<5", None),
            ("transformers>=5", None),
            ("transformers==4.57.*", None),
            ("torch>=2.13", None),
            ("unheard-of>3", None),
            ("torch<3; python_version < '3.11'", None),
            ("; sys_platform == 'darwin'", None),
            ("torch-neuronx<1", "torch-neuronx<1"),
            ("torch-neuronx==1.0", "torch-neuronx==1.0"),
            ("transformers>=4.58,<5", "transformers<5,>=4.58"),
            ("transformers>9000", "transformers>9000"),
            ("torch>=2.10,<2.13", "torch<2.13,>=2.10"),
            ("torch<2.9 and torch>2.9", "torch<2.9,>2.9"),
            ("torch<3 and unheard-of>3 and Unheard_Of<2", "unheard-of<2,>3"),
            ("torch; python_version < '3.10'", 'python_version < "3.10"'),
            ("; sys_platform == 'amiga'", 'sys_platform == "amiga"'),
        ],
    )
    def test_a_condition_is_about_a_supported_version(self, when: str, part: str | None) -> None:
        assert impossible_part(Condition.parse(when)) == part

    @pytest.mark.parametrize(
        ("when", "found"),
        [
            ("transformer<5", ["unknown-distribution"]),
            ("Torch_Neuron<2.9", ["unknown-distribution"]),
            ("python<3.12", ["unknown-distribution"]),
            ("torch_neuronx<2.9 and timm<1.0.21", []),
            ("neuronx-distributed<1", []),
        ],
    )
    def test_one_that_names_no_distribution_never_holds(self, when: str, found: list[str]) -> None:
        text = f'EXPORT_SKIPS = {{"all": {{"BertModel": Skip("dies in trace", when="{when}")}}}}'
        assert [code for _, code in lint_text(text)] == found

    def test_what_the_extras_install_is_supported(self) -> None:
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        pinned = re.findall(r'"((?:torch|torch-xla|transformers|optimum)[=<>~][^"]+)"', text)
        assert len(pinned) >= 7
        assert [one for one in pinned if impossible_part(Condition.parse(one))] == []
        assert f">={PYTHONS[0]},<3.{int(PYTHONS[-1][2:]) + 1}" in text

    @given(st.lists(st.tuples(st.sampled_from([*ORDERS, "==", "!="]), VERSION), max_size=3))
    def test_what_a_supported_version_satisfies_is_possible(
        self, bounds: list[tuple[str, str]]
    ) -> None:
        when = "torch" + ",".join(operator + version for operator, version in bounds)
        supported = [f"2.{minor}.{patch}" for minor in (7, 8, 9, 13) for patch in range(6)]
        asked = Requirement(when).specifier
        if any(asked.contains(version) for version in supported):
            assert impossible_part(Condition.parse(when)) is None

    @given(st.lists(st.tuples(st.sampled_from(ORDERS), VERSION), max_size=3))
    def test_what_no_version_of_a_fine_grid_satisfies_is_impossible(
        self, bounds: list[tuple[str, str]]
    ) -> None:
        when = "torch" + ",".join(operator + version for operator, version in bounds)
        between = [f"2.{minor}.{patch}.5" for minor in (7, 8, 9, 13) for patch in range(6)]
        grid = [*between, *(f"2.{minor}.{patch}" for minor in (7, 8, 9, 13) for patch in range(7))]
        asked = Requirement(when).specifier
        is_possible = any(asked.contains(version) for version in grid)
        assert (impossible_part(Condition.parse(when)) is None) is is_possible


class TestOrder:
    def test_scopes_stand_by_the_alphabet_facet_by_facet(self) -> None:
        scopes = ["all", "dynamic", "neuron", "neuron.dynamic", "neuron.xla", "neuron.static"]
        rows = "\n".join(f'"{scope}": {{}},' for scope in scopes)
        text = f"EXPORT_SKIPS = {{\n{rows}\n}}"
        assert lint_text(text) == [(7, "scopes-unsorted")]

    def test_names_stand_by_the_alphabet(self) -> None:
        text = (
            'EXPORT_SKIPS = {"all": {\n"BertModel": "dies in trace",\n'
            '"AlbertModel": "dies in trace",\n"CvtModel": "dies in trace"}}'
        )
        assert lint_text(text) == [(3, "names-unsorted")]


class TestCharacters:
    @pytest.mark.parametrize(
        "text",
        [
            '# a\u200bcomment\nEXPORT_SKIPS = {}',
            'EXPORT_SKIPS = {"all": {"BertModel": "dies\u00a0in trace"}}',
            'EXPORT_SKIPS = {"all": {"BertModel": "\\x1b[31mdies in trace"}}',
            '\ufeffEXPORT_SKIPS = {}',
            "EXPORT_SKIPS = {}\r\n",
        ],
    )  # fmt: skip
    def test_one_that_cannot_be_seen_is_found(self, text: str) -> None:
        assert lint_text(text) == [(1, "invisible")]


class TestUnreadable:
    @pytest.mark.parametrize("options", [[], ["--fix"]])
    def test_a_syntax_error_is_a_finding_and_the_file_stays(
        self, tmp_path: Path, lint: Callable[..., Any], options: list[str]
    ) -> None:
        file = planted(tmp_path, '\n    "xnnpack": = {},  # here\n')
        before = file.read_bytes()
        [found] = lint(file, *options)
        assert (found["code"], found["line"]) == ("S002", line_of(file))
        assert file.read_bytes() == before

    def test_bytes_that_are_no_text_are_a_finding(
        self, tmp_path: Path, lint: Callable[..., Any]
    ) -> None:
        file = tmp_path / "skips.py"
        file.write_bytes(b"\nEXPORT_SKIPS = {}\n# \xff")
        assert [(f["code"], f["line"]) for f in lint(file)] == [("S001", 3)]

    def test_a_file_that_is_not_there_is_wrong_use(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["skips", "lint", "--skips", str(tmp_path / "gone.py")]) == 2
        assert "gone.py cannot be read: No such file" in capsys.readouterr().err


class TestFix:
    def test_what_needs_no_thought_is_mended_and_the_rest_stays(self) -> None:
        text = """# head\r
EXPORT_SKIPS = {
    # of the static path
    "neuron.static": {
        "BertModel": "Same as `CvtModel`.",  # at the end
        # above the name
        "AlbertModel": (
            "dies in trace"
        ),
        "CvtModel": "Same op as `ViTModel`, later.",
        "vitmodel": "aten::roll has no lowering",
    },
    "nueron": {"GPT2Modle": "dies in\u00a0trace",},

    "dynamic.neuron": {
        "T5Model": "dies in trace",
    },
    "neuron.static": {
        "XLNetModel": "dies in trace",
        "XLNetModel": "dies in trace",
        # two causes
        "YolosModel": "dies in trace",
    },
}
"""
        assert (
            fixed(text)
            == """# head
EXPORT_SKIPS = {
    "neuron": {"GPT2Model": "dies in trace",},

    "neuron.dynamic": {
        "T5Model": "dies in trace",
    },
    # of the static path
    "neuron.static": {
        # above the name
        "AlbertModel": (
            "dies in trace"
        ),
        "BertModel": "Same as `ViTModel`.",  # at the end
        "CvtModel": "Same op as `ViTModel`, later.",
        "ViTModel": "aten::roll has no lowering",
        "XLNetModel": "dies in trace",
        # two causes
        "YolosModel": "dies in trace",
    },
}
"""
        )

    @pytest.mark.parametrize(
        "text",
        [
            'EXPORT_SKIPS = {"all": {"BertModel": "dies in trace", "BertModel": "drifts"}}',
            'EXPORT_SKIPS = {"all": {"Qwen9Model": "dies in trace"}}',
            'EXPORT_SKIPS = {"all": {"BertModel": "x"}}',
            'EXPORT_SKIPS = {"all": {"BertModel": Skip("dies in trace", until="2020-01-01")}}',
            f'EXPORT_SKIPS = {{"all": {{"BertModel": {DIES}}}, "xla": {{"BertModel": {DRIFTS}}}}}',
            'EXPORT_SKIPS = {"all": {"BertModel": "dies in trace", **OTHERS}}',
        ],
    )
    def test_what_needs_thought_is_left_to_a_person(self, text: str) -> None:
        assert lint_text(text)
        assert fixed(text) == text

    def test_tabs_become_spaces(self) -> None:
        text = 'EXPORT_SKIPS = {\n\t"all": {\n\t\t"BertModel": "dies in trace",\n\t},\n}\n'
        assert fixed(text) == text.replace("\t", "    ")

    def test_lines_that_end_in_cr_alone_are_lines(self) -> None:
        text = 'EXPORT_SKIPS = {\r    "nueron": {"BertModel": "dies in trace"},\r}\r'
        assert fixed(text) == text.replace("\r", "\n").replace("nueron", "neuron")

    def test_the_shipped_file_stays_as_it_is(self) -> None:
        text = DEFAULT_PATH.read_text(encoding="utf-8")
        assert fixed(text) == text

    def test_it_writes_the_file_and_tells_what_is_left(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = planted(tmp_path, PLANTS["unknown-class"])
        assert cli.main(["skips", "lint", "--skips", str(file), "--fix"]) == 0
        entries = len(Registry.load().entries) + 1
        assert capsys.readouterr().out == f"{file}: {entries} entries, 1 mended, no findings\n"
        expected = planted(tmp_path, PLANTS["unknown-class"].replace("Modle", "Model"))
        assert file.read_bytes() == expected.read_bytes()

    def test_a_read_only_file_stays_and_is_an_error(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = planted(tmp_path, PLANTS["unknown-class"])
        before = file.read_bytes()
        file.chmod(0o444)
        assert cli.main(["skips", "lint", "--skips", str(file), "--fix"]) == 2
        assert "is read-only and was left as it is" in capsys.readouterr().err
        assert file.read_bytes() == before


class TestOutput:
    def test_a_finding_is_a_line_with_file_line_and_code(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = planted(tmp_path, PLANTS["unknown-class"])
        assert cli.main(["skips", "lint", "--skips", str(file)]) == 1
        first, last = capsys.readouterr().out.splitlines()
        assert first.startswith(f"{file}:{line_of(file)}: S202 unknown-class: ")
        assert first.endswith("[--fix]")
        assert last.endswith("1 finding, 1 of them mended by --fix")

    def test_no_two_kinds_have_one_code(self) -> None:
        assert all_rules()
        sources = [*ROOT.glob("testing/lint/rules/*.py"), ROOT / "testing/registry/problems.py"]
        text = "".join(file.read_text(encoding="utf-8") for file in sources)
        codes = re.findall(r'Code\("(S\d{3})", "([\w-]+)"\)', text)
        assert len(codes) > 20
        for column in zip(*codes, strict=True):
            assert len(set(column)) == len(codes)


@pytest.mark.parametrize("plant", ["shadowed", "unknown-class"])
def test_it_answers_at_once_and_imports_nothing_large(plant: str, tmp_path: Path) -> None:
    file = planted(tmp_path, PLANTS[plant])
    code = (
        "import sys; from testing import cli\n"
        f"assert cli.main(['skips', 'lint', '--skips', {str(file)!r}]) == 1\n"
        "loaded = {'torch', 'transformers', 'pytest', 'libcst', 'rich'} & set(sys.modules)\n"
        "assert not loaded, loaded"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Seconds of the processor: those of the clock depend on what else runs.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.5
