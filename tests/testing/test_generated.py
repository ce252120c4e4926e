"""Generated test classes, against a hand-made transformers and for every model type."""

from __future__ import annotations

import dataclasses
import importlib
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from testing import auto_classes, generated
from testing.cases import cases_of
from testing.generated import export_tests, unsorted_types
from tests.models.areas import AREAS

ROOT = Path(__file__).resolve().parents[2]
AREA_FILES = [*AREAS, "unsorted"]

MODELING_AUTO = """
MODEL_MAPPING_NAMES = OrderedDict([
    ("alpha", "AlphaModel"), ("alias", "AlphaModel"), ("beta-text", ("BetaModel", "BetaHead")),
    ("dab-shared", "DabModel"), ("eps", "EpsModel"), ("bare_one", "BareModel"),
])
"""
AUTO_MAPPINGS = """
CONFIG_MAPPING_NAMES = OrderedDict(
    [("alpha", "AlphaConfig"), ("alias", "AlphaConfig"), ("beta-text", "BETATextConfig")]
)
"""
CONFIGURATION_AUTO = """
CONFIG_MAPPING_NAMES.update({"dab-shared": "SharedConfig", "eps": "SharedConfig"})
"""


@pytest.fixture
def handmade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transformers of three files, with the tables where transformers 5 has them."""
    auto = tmp_path / "models" / "auto"
    auto.mkdir(parents=True)
    (tmp_path / "models" / "alpha").mkdir()
    (tmp_path / "models" / "alpha" / "modeling_alpha.py").write_text("class AlphaModel: ...")
    (auto / "modeling_auto.py").write_text(MODELING_AUTO)
    (auto / "auto_mappings.py").write_text(AUTO_MAPPINGS)
    (auto / "configuration_auto.py").write_text(CONFIGURATION_AUTO)
    monkeypatch.setattr(auto_classes, "transformers_root", lambda: tmp_path)


def made(*model_types: str) -> dict[str, Any]:
    return export_tests(__name__, model_types)


@pytest.mark.usefixtures("handmade")
class TestHandmadeTransformers:
    def test_a_class_is_named_after_its_configuration(self) -> None:
        assert list(made("alpha", "beta-text")) == ["AlphaExportTest", "BETATextExportTest"]

    def test_types_that_share_a_configuration_are_named_after_themselves(self) -> None:
        assert list(made("dab-shared", "eps")) == ["DabSharedExportTest", "EpsExportTest"]

    def test_so_is_a_type_without_one(self) -> None:
        assert list(made("bare_one")) == ["BareOneExportTest"]

    def test_it_has_the_classes_of_its_type(self) -> None:
        (cls,) = made("beta-text").values()
        assert (cls.model_type, cls.all_model_classes) == ("beta-text", ("BetaModel", "BetaHead"))

    def test_its_tests_are_those_of_a_class_that_is_written_by_hand(self) -> None:
        (cls,) = made("alpha").values()
        assert callable(cls.test_neuron_export_static_AlphaModel)

    def test_a_child_finds_it_in_its_module(self) -> None:
        (cls,) = made("alpha").values()
        assert (cls.__module__, cls.__qualname__) == (__name__, "AlphaExportTest")

    def test_a_type_that_borrows_its_classes_gets_none(self) -> None:
        assert made("alias") == {}

    def test_a_type_of_another_transformers_is_left_out(self) -> None:
        assert list(made("of-another-release", "alpha")) == ["AlphaExportTest"]

    def test_what_no_list_has_is_unsorted(self) -> None:
        listed = [("alpha", "alias"), ("beta-text", "of-another-release", "eps")]
        assert unsorted_types(listed) == ("dab-shared", "bare_one")


def test_without_transformers_one_test_is_left_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(auto_classes.importlib.util, "find_spec", lambda name: None)
    (cls,) = generated.export_tests(__name__, ("bert", "gpt2")).values()
    with pytest.raises(unittest.SkipTest, match="transformers is not installed"):
        cls("test_export").debug()
    assert generated.unsorted_types([]) == ()


def test_every_model_class_has_exactly_one_test_class() -> None:
    modules = [importlib.import_module(f"tests.models.test_{area}") for area in AREA_FILES]
    classes = [cls for module in modules for cls in vars(module).values() if is_test(cls)]
    tested = Counter(name for cls in classes for name in cls.all_model_classes)
    assert tested == Counter(auto_classes.known_classes())


def is_test(value: Any) -> bool:
    return isinstance(value, type) and value.__name__.endswith("ExportTest")


def test_a_model_type_is_listed_once() -> None:
    listed = Counter(kind for kinds in AREAS.values() for kind in kinds)
    assert [kind for kind, count in listed.items() if count > 1] == []


def test_names_of_test_classes_are_unique_over_all_files() -> None:
    names = generated._names(k for k in auto_classes.model_types() if auto_classes.own_classes(k))
    assert [name for name, count in Counter(names.values()).items() if count > 1] == []


COLLECT = """
import sys, time, pytest
code = pytest.main(["tests/models", "--collect-only", "-q",
                    "-p", "no:cacheprovider", "-p", "no:hypothesispytest"])
heavy = {"torch", "transformers", "torch_xla", "onnx", "openvino", "executorch", "rich"}
heavy &= set(sys.modules)
print("processor seconds:", time.process_time())
sys.exit(f"imported {heavy}, pytest's code is {code}" if heavy or code else 0)
"""


def test_the_whole_matrix_is_collected_at_once_and_without_torch() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", COLLECT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    *ids, _, count, seconds = ended.stdout.splitlines()
    assert "tests/models/test_vision.py::ViTExportTest::test_neuron_export_static_ViTModel" in ids
    cases = [case for name in auto_classes.known_classes() for case in cases_of(name)]
    # One whose runtime is still open stands for each that its backend has.
    named = {dataclasses.replace(case, runtime=None) for case in cases}
    assert int(count.split()[0]) >= len(named)
    # Twice the limit of an idle machine: the processor's clock is slower when others use it.
    assert float(seconds.split()[-1]) < 12
