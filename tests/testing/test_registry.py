"""Reading ``skips.py``, and which of its entries applies to a case."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from packaging.version import Version

from exporters import distributions
from testing.cases import ExportCase
from testing.registry import Registry, SkipFileError, conditions
from testing.registry.conditions import Condition, ConditionError
from testing.registry.entries import Skip, Tolerance
from testing.registry.references import holders, reference_of, repointed
from testing.registry.skip_file import Entry, read
from testing.registry.spelling import meant
from testing.scopes import Scope
from tests.testing.scope_strategies import cases, nested_scopes, scopes

ROOT = Path(__file__).parents[2]


def case(model_class: str = "BertModel", **values: object) -> ExportCase:
    facts = {"model_type": "bert", "backend": "neuron", "runtime": "xla", **values}
    return ExportCase(model_class, **facts)  # type: ignore[arg-type]


def skips(path: Path, text: str) -> Path:
    file = path / "skips.py"
    file.write_text(text, encoding="utf-8", newline="")
    return file


def load(path: Path, text: str) -> Registry:
    return Registry.load(skips(path, text))


def test_the_shipped_file_loads() -> None:
    assert Registry.load().path.name == "skips.py"


def test_an_entry_skips_its_class_and_gives_scope_and_reason(tmp_path: Path) -> None:
    registry = load(tmp_path, 'EXPORT_SKIPS = {"neuron": {"CvtModel": "dies in trace"}}')
    entry = registry.skip_for(case("CvtModel"))
    assert entry is not None
    assert (str(entry.scope), entry.reason) == ("neuron", "dies in trace")
    assert registry.skip_for(case("CvtModel", backend="onnx", runtime=None)) is None


def test_the_file_is_read_and_never_run(tmp_path: Path) -> None:
    text = 'from nowhere import Skip\nEXPORT_SKIPS = {"all": {"A": Skip("because")}}'
    assert load(tmp_path, text).skip_for(case("A")) is not None


# B37: names match whole, whatever the order of the file.
@pytest.mark.parametrize("order", list(itertools.permutations(["T5Model", "BertModel"])))
def test_an_entry_leaves_neighbours_with_the_same_beginning_alone(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    entries = ", ".join(f'"{name}": "reason"' for name in order)
    registry = load(tmp_path, f'EXPORT_SKIPS = {{"neuron.static": {{{entries}}}}}')
    names = ["T5Model", "MT5Model", "T5ModelForX", "BertModel", "BertModelWithY"]
    skipped = [name for name in names if registry.skip_for(case(name))]
    assert skipped == ["T5Model", "BertModel"]
    assert registry.skip_for(case("T5Model", dynamic=True)) is None


def test_the_broadest_entry_gives_the_reason(tmp_path: Path) -> None:
    text = """EXPORT_SKIPS = {
        "neuron.xla.static": {"BertModel": "narrow"},
        "neuron": {"BertModel": "broad"},
        "static": {"GPT2Model": "other"},
    }"""
    entry = load(tmp_path, text).skip_for(case())
    assert entry is not None
    assert entry.reason == "broad"


def skip_under(scope: Scope) -> Registry:
    return Registry([Entry("EXPORT_SKIPS", scope, "BertModel", Skip("dies"), 1)])


@given(nested_scopes())
def test_an_entry_applies_to_every_case_of_a_narrower_scope(
    nested: tuple[Scope, Scope, ExportCase],
) -> None:
    broad, narrow, one = nested
    assert narrow.applies_to(one)
    for scope in nested[:2]:
        registry = skip_under(scope)
        found = registry.exactness_for(one) if scope.is_exactness else registry.skip_for(one)
        assert found is not None


@given(scopes(), cases())
def test_an_entry_of_exactness_never_skips(scope: Scope, one: ExportCase) -> None:
    if scope.is_exactness:
        assert skip_under(scope).skip_for(one) is None


def test_exactness_does_not_skip(tmp_path: Path) -> None:
    registry = load(tmp_path, 'EXPORT_SKIPS = {"neuron.exactness": {"BertModel": "drifts 3e-3"}}')
    assert registry.skip_for(case()) is None
    entry = registry.exactness_for(case())
    assert entry is not None
    assert entry.reason == "drifts 3e-3"
    assert registry.exactness_for(case(backend="dynamo", runtime=None)) is None


def test_a_skip_is_no_exactness_entry(tmp_path: Path) -> None:
    registry = load(tmp_path, 'EXPORT_SKIPS = {"neuron": {"BertModel": "dies"}}')
    assert registry.exactness_for(case()) is None


def test_an_entry_for_a_component_skips_only_that(tmp_path: Path) -> None:
    text = 'EXPORT_SKIPS = {"all": {"BlipModel": Skip("no bicubic", component="vision")}}'
    registry = load(tmp_path, text)
    assert registry.skip_for(case("BlipModel")) is None
    assert registry.skip_for(case("BlipModel"), component="vision") is not None
    assert registry.skip_for(case("BlipModel"), component="text") is None


def test_the_narrowest_tolerance_counts(tmp_path: Path) -> None:
    text = """TOLERANCES = {
        "neuron": {"BertModel": Tolerance(1e-2, 1e-2, reason="bf16")},
        "neuron.dynamic": {"BertModel": Tolerance(atol=2e-3, rtol=1e-3, reason="chunks")},
    }"""
    registry = load(tmp_path, text)
    assert registry.tolerance_for(case(dynamic=True), 1e-4).atol == 2e-3
    assert registry.tolerance_for(case(), 1e-4).atol == 1e-2
    assert registry.tolerance_for(case("GPT2Model"), 1e-4) == Tolerance(1e-4, 1e-4)


def test_a_tolerance_applies_only_while_its_condition_holds(tmp_path: Path) -> None:
    text = """TOLERANCES = {
        "neuron": {"BertModel": Tolerance(1e-2, 1e-2, reason="bf16", when="torch-neuronx<2.9")},
    }"""
    entries = read(skips(tmp_path, text)).entries
    old = Registry(entries, installed=lambda _: Version("2.8"))
    new = Registry(entries, installed=lambda _: Version("2.9"))
    assert old.tolerance_for(case(), 1e-4).atol == 1e-2
    assert new.tolerance_for(case(), 1e-4).atol == 1e-4


def test_what_is_said_of_a_component_is_not_said_of_the_whole(tmp_path: Path) -> None:
    text = """
EXPORT_SKIPS = {"exactness": {"BlipModel": Skip("drifts 2e-3", component="vision")}}
ONNX_DISABLE_OPTIMIZE = {"onnx": {"BlipModel": Skip("folds a Resize", component="vision")}}
TOLERANCES = {"all": {"BlipModel": Tolerance(1, 1, reason="bicubic", component="vision")}}
"""
    registry = load(tmp_path, text)
    one = case("BlipModel", backend="onnx", runtime=None)
    for component, is_said in ((None, False), ("text", False), ("vision", True)):
        assert (registry.exactness_for(one, component) is not None) is is_said
        assert (registry.optimizer_off_for(one, component) is not None) is is_said
        assert (registry.tolerance_for(one, 1e-4, component).atol == 1) is is_said


def test_the_onnx_optimizer_is_off_where_an_entry_says_so(tmp_path: Path) -> None:
    text = 'ONNX_DISABLE_OPTIMIZE = {"onnx.dynamic": {"ViTModel": "folds a Resize"}}'
    registry = load(tmp_path, text)
    onnx = {"backend": "onnx", "runtime": None}
    assert registry.optimizer_off_for(case("ViTModel", dynamic=True, **onnx)) is not None
    assert registry.optimizer_off_for(case("ViTModel", **onnx)) is None


# B40 and the rest of what a person gets wrong: each is an error with the file and the line.
@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('EXPORT_SKIPS = {\n "all": {\n  "BertModel ": "x"}}', 3, "'BertModel '"),
        ('EXPORT_SKIPS = {\n "all": {\n  "Bert\u200bModel": "x"}}', 3, r"'Bert\u200bModel'"),
        ('EXPORT_SKIPS = {\n "all": {\n  "BertModel\xa0": "x"}}', 3, r"'BertModel\xa0'"),
        ('EXPORT_SKIPS = {\n "all": {\n  "Bert\\tModel": "x"}}', 3, r"'Bert\tModel'"),
        ('EXPORT_SKIPS = {\n "all": {\n  "B\u0435rtModel": "x"}}', 3, r"'B\u0435rtModel'"),
        ('EXPORT_SKIPS = {\n "all": {\n  "bertmodel": "x"}}', 3, "is spelt 'BertModel'"),
        ('EXPORT_SKIPS = {\n "all": {\n  "A": "x",\n  "A": "y"}}', 4, "first at line 3"),
        ('EXPORT_SKIPS = {\n "all": {"A": "x"},\n "all": {"B": "y"}}', 3, "first at line 2"),
        ('EXPORT_SKIPS = {\n "nueron": {"A": "x"}}', 2, "did you mean 'neuron'"),
        ('EXPORT_SKIPS = {\n "dynamic.neuron": {"A": "x"}}', 2, "'neuron.dynamic'"),
        ('EXPORT_SKIPS = {\n "all": {"A": ""}}', 2, "reason is empty"),
        ('EXPORT_SKIPS = {\n "all": {"A": " \u200b"}}', 2, "reason is empty"),
        ('EXPORT_SKIPS = {\n "all": {"A": 3}}', 2, "must be a string or Skip"),
        ('EXPORT_SKIPS = {\n "all": {"A": None}}', 2, "must be a string or Skip"),
        ('EXPORT_SKIPS = {\n "all": {"A": Tolerance(1, 1)}}', 2, "must be a string or Skip"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip()}}', 2, "needs reason"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip("x", wen="a<1")}}', 2, "takes no wen"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip("x", issue=3)}}', 2, "issue must be a string"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip("x", issue=" ")}}', 2, "issue is empty"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip("x", component="")}}', 2, "component is empty"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip("x", reason="y")}}', 2, "given reason twice"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip("x", kind="bug", kind="slow")}}', 2, "kind twice"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip(*"abcdefg")}}', 2, "must be a literal"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip(1, 2, 3, 4, 5, 6, 7)}}', 2, "at most 6"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip("x", kind="bgu")}}', 2, "'bgu' is none of"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip("x", when="<2")}}', 2, "no requirement"),
        (
            'EXPORT_SKIPS = {\n "all": {"A": Skip("x", when="a<2; os_name ~= \'posix\'")}}',
            2,
            "no marker",
        ),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip("x", until="soon")}}', 2, "is no date"),
        # Python 3.11 would read these, 3.10 not.
        ('EXPORT_SKIPS = {\n "all": {"A": Skip("x", until="20261231")}}', 2, "is no date"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip("x", until="2026-W49-1")}}', 2, "is no date"),
        ('EXPORT_SKIPS = {\n "all": {"A": Skip(f"x")}}', 2, "reason must be a literal"),
        ('EXPORT_SKIPS = {\n "all": "A"}', 2, "must be a dict literal"),
        ('EXPORT_SKIPS = {\n "all": ["A"]}', 2, "must be a dict literal"),
        ("EXPORT_SKIPS = {\n 3: {}}", 2, "must be a string literal"),
        ('EXPORT_SKIPS = {\n **{"all": {}}}', 2, "must be a string literal"),
        ("\nEXPORT_SKIP = {}", 2, "'EXPORT_SKIP' is none of"),
        ("EXPORT_SKIPS = {}\nEXPORT_SKIPS = {}", 2, "already at line 1"),
        ('EXPORT_SKIPS = {}\nEXPORT_SKIPS["all"] = {}', 2, "only data stands here"),
        ('TOLERANCES = {\n "all": {"A": 1e-3}}', 2, "must be Tolerance"),
        ('TOLERANCES = {\n "all": {"A": Tolerance(1e-3)}}', 2, "needs rtol"),
        ('TOLERANCES = {\n "all": {"A": Tolerance(-1, 0, reason="x")}}', 2, "0 or more"),
        ('TOLERANCES = {\n "all": {"A": Tolerance(1, 1)}}', 2, "reason is empty"),
        ('TOLERANCES = {\n "all": {"A": Tolerance(1, 1, 5, "x")}}', 2, "share from 0 to 1"),
        ('TOLERANCES = {\n "all": {"A": Tolerance("1", 1, 0, "x")}}', 2, "must be a number"),
        (
            'TOLERANCES = {\n "exactness": {"A": Tolerance(1, 1, 0, "x")}}',
            2,
            "about exactness already",
        ),
        (
            'TOLERANCES = {\n "all": {"A": Tolerance(1, 1, reason="x", until="soon")}}',
            2,
            "is no date",
        ),
        (
            'TOLERANCES = {\n "all": {"A": Tolerance(1, 1, reason="x", when="<2")}}',
            2,
            "requirement",
        ),
        ('ONNX_DISABLE_OPTIMIZE = {\n "onnx": {"A": Skip("x", kind=3)}}', 2, "kind must be"),
        ('ONNX_DISABLE_OPTIMIZE = {\n "neuron": {"A": "x"}}', 2, "'neuron' has no case"),
        ("\ufeffEXPORT_SKIPS = {}", 1, "byte order mark"),
        ("\nEXPORT_SKIPS = {}\r\n", 2, "CR LF"),
        ("\r\rEXPORT_SKIPS = {'all': {'A': 'x'}}", 1, "ends in CR;"),
        ("\nEXPORT_SKIPS = {", 2, "never closed"),
        ("EXPORT_SKIPS = {\n'all': {'A': 'x\0y'}}", 2, "null byte"),
        ("EXPORT_SKIPS = {'all': {'A': " + "-" * 9999 + "1}}", 1, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_an_error_with_its_line(
    tmp_path: Path, text: str, line: int, says: str
) -> None:
    file = skips(tmp_path, text)
    with pytest.raises(SkipFileError) as caught:
        Registry.load(file)
    assert [problem.line for problem in caught.value.problems] == [line]
    assert str(caught.value).startswith(f"{file}:{line}: ")
    assert says in str(caught.value)


# The last two have a Cyrillic and a full-width C; PvtModel is as near to what is left of them.
@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("Bert\u200bModel", "BertModel"),
        ("\u0421vtModel", "CvtModel"),
        ("\uff23vtModel", "CvtModel"),
    ],
)
def test_a_misspelt_name_with_characters_that_deceive_names_the_nearest(
    tmp_path: Path, written: str, right: str
) -> None:
    file = skips(tmp_path, f'EXPORT_SKIPS = {{"all": {{"{written}": "x"}}}}')
    with pytest.raises(SkipFileError, match=f"did you mean '{right}'"):
        Registry.load(file)


def test_every_problem_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    text = 'EXPORT_SKIPS = {\n "nueron": {},\n "all": {\n  "A": "",\n  "B": "fine",\n  "C ": "x"}}'
    found = read(skips(tmp_path, text))
    assert [problem.line for problem in found.problems] == [2, 4, 6]
    assert [entry.model_class for entry in found.entries] == ["B"]


def test_a_name_that_the_installed_transformers_lacks_is_read(tmp_path: Path) -> None:
    registry = load(tmp_path, 'EXPORT_SKIPS = {"all": {"OnlyInAnotherVersionModel": "x"}}')
    assert registry.skip_for(case("OnlyInAnotherVersionModel")) is not None


def test_a_file_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SkipFileError, match=r"gone\.py:1: cannot be read: No such file"):
        Registry.load(tmp_path / "gone.py")


def test_a_file_that_is_not_text_is_an_error_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "skips.py"
    file.write_bytes(b"EXPORT_SKIPS = {}\n# \xff\n")
    with pytest.raises(SkipFileError, match=r"skips\.py:2: is not UTF-8"):
        Registry.load(file)


VERSIONS = {
    "torch-neuronx": Version("2.9.0.2.15.32035"),
    "torch": Version("2.9.1+cpu"),
    "transformers": Version("5.0.0rc1"),
}


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ("torch-neuronx<2.10", True),
        ("torch-neuronx>=2.9.0.2.15", True),
        ("torch-neuronx<2.9.0.2.15.32035", False),
        ("torch-neuronx==2.9.*", True),
        ("torch==2.9.1", True),
        ("torch<2.9.1", False),
        # Installed is a candidate: as the release that it leads to, but beside candidates.
        ("transformers>=5.0.0rc1", True),
        ("transformers<5.0.0rc2", True),
        ("transformers<5", False),
        ("transformers>=5", True),
        ("transformers==5.0.*", True),
        ("transformers>=4.57", True),
        ("openvino<9999", False),
        ("torch<3 and transformers>=4", True),
        ("torch<3 and openvino>=1", False),
        ('torch<3; python_version >= "3.10"', True),
        ('torch<3; python_version < "3.10"', False),
        ('torch<3 and transformers>=4; sys_platform == "none" or os_name != "none"', True),
        ('; python_version < "3.10"', False),
        ("torch", True),
        ("openvino", False),
    ],
)
def test_a_condition_is_held_against_what_is_installed(when: str, holds: bool) -> None:
    assert Condition.parse(when).holds(VERSIONS.get) is holds


def test_an_entry_applies_only_while_its_condition_holds(tmp_path: Path) -> None:
    text = 'EXPORT_SKIPS = {"neuron": {"CvtModel": Skip("crashes", when="torch-neuronx<2.9")}}'
    entries = read(skips(tmp_path, text)).entries
    old, new = Version("2.8.0.1"), Version("2.9.0.2.15.32035")
    registries = [Registry(entries, installed=lambda _, v=v: v) for v in (old, new, None)]
    assert [r.skip_for(case("CvtModel")) is not None for r in registries] == [True, False, False]


def test_a_condition_that_fails_gives_way_to_a_narrower_entry(tmp_path: Path) -> None:
    text = """EXPORT_SKIPS = {
        "neuron": {"CvtModel": Skip("old", when="torch-neuronx<1.0")},
        "neuron.static": {"CvtModel": "still"},
    }"""
    entry = load(tmp_path, text).skip_for(case("CvtModel"))
    assert entry is not None
    assert entry.reason == "still"


@pytest.mark.parametrize(
    ("version", "found"), [("1.0", None), ("1.0.0", None), ("1.0.post1", None), ("2.9.0.2", "")]
)
def test_the_empty_package_that_holds_a_name_is_absent(
    monkeypatch: pytest.MonkeyPatch, version: str, found: str | None
) -> None:
    monkeypatch.setattr(distributions.metadata, "version", lambda name: version)
    conditions.installed_version.cache_clear()
    try:
        expected = None if found is None else Version(version)
        assert conditions.installed_version("torch-neuronx") == expected
        assert conditions.installed_version("torch_neuronx") == expected
        assert conditions.installed_version("neuronx-cc") == expected
        assert conditions.installed_version("torch") == Version(version)
    finally:
        conditions.installed_version.cache_clear()


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "torch <",
        "torch<2 or torch>3",
        "torch[x]<2",
        "torch @ https://x.org/a",
        "torch<3; os_name ~= 'posix'",
        "torch<3; dependency_groups == 'x'",
    ],
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(ConditionError):
        Condition.parse(text)


def test_a_marker_among_the_requirements_is_told_its_place() -> None:
    with pytest.raises(ConditionError, match="a marker goes behind `;`"):
        Condition.parse("torch<3 and python_version < '3.12'")


def test_the_registry_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from testing.registry import Registry; Registry.load();"
        "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_an_entry_is_found_by_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = load(tmp_path, 'EXPORT_SKIPS = {"neuron": {\n    "BertModel": "dies"}}\n')
    assert registry.place_of_skip("neuron", "BertModel") == f"{tmp_path / 'skips.py'}:2"
    monkeypatch.chdir(tmp_path)
    assert registry.place_of_skip("neuron", "BertModel") == "skips.py:2"
    assert registry.place_of_skip("neuron.static", "BertModel") is None


class TestReferences:
    @pytest.mark.parametrize(
        ("reason", "name"),
        [
            ("Same as `CvtModel`.", "CvtModel"),
            ("Same as CvtModel", "CvtModel"),
            ("same as `CvtModel`", "CvtModel"),
            ("Same op as `CvtModel`, in the pooler.", "CvtModel"),
            ("Same cause on the static path as `CvtModel`: aten::roll.", "CvtModel"),
            ("Same shapes as eager and other values.", None),
            ("Same as above.", None),
            ("It is the same as `CvtModel`.", None),
            ("Same as `CvtModel`s.", "CvtModel"),
            ("aten::roll, as in `CvtModel`", None),
            ("", None),
        ],
    )
    def test_a_reason_refers_in_few_forms(self, reason: str, name: str | None) -> None:
        assert reference_of(reason) == name

    def test_the_most_similar_scope_is_first(self, tmp_path: Path) -> None:
        text = """EXPORT_SKIPS = {
            "all": {"CvtModel": "a"}, "neuron": {"CvtModel": "b"},
            "neuron.static": {"CvtModel": "c", "BertModel": "Same as `CvtModel`."},
            "onnx": {"CvtModel": "d"},
        }"""
        entries = read(skips(tmp_path, text)).entries
        [entry] = [e for e in entries if e.model_class == "BertModel"]
        assert [e.reason for e in holders(entry, "CvtModel", entries)] == ["c", "b", "a"]

    @pytest.mark.parametrize(
        ("reason", "expected"),
        [
            (
                "Same op as `CvtModel`, in CvtModel's way",
                "Same op as `ViTModel`, in CvtModel's way",
            ),
            ("Same as `CvtModelX`.", "Same as `CvtModelX`."),
            ("aten::roll, as in `CvtModel`", "aten::roll, as in `CvtModel`"),
        ],
    )
    def test_one_is_repointed_and_keeps_its_words(self, reason: str, expected: str) -> None:
        assert repointed(reason, "CvtModel", "ViTModel") == expected


class TestSpelling:
    KNOWN = ("BertModel", "IBertModel", "Qwen2Model", "RobertaModel", "T5Model", "ViTModel")

    @pytest.mark.parametrize(
        ("name", "right"),
        [
            ("RobertaModle", "RobertaModel"),
            ("RobrtaModel", "RobertaModel"),
            ("RobbertaModel", "RobertaModel"),
            ("RobertaModek", "RobertaModel"),
            ("vitmodel", "ViTModel"),
            (" ViT\u200bModel", "ViTModel"),
            ("RobertaModels", "RobertaModel"),
            # Two slips, two candidates, a digit, right already.
            ("RobretaModle", None),
            ("ABertModel", None),
            ("Qwen3Model", None),
            ("QwenModel", None),
            ("BertModel", None),
        ],
    )
    def test_only_what_is_beyond_doubt_is_meant(self, name: str, right: str | None) -> None:
        assert meant(name, self.KNOWN) == right
