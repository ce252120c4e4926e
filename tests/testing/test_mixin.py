"""Which tests the mixin gives a class, told without running any of them."""

from __future__ import annotations

import subprocess
import sys
import unittest
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import exporters
from testing.cases import ExportCase
from testing.mixin import ExportTesterMixin, export_case_of
from testing.model_classes import DuplicateModelClassError, declared_classes, unknown_class
from tests.testing import stubs

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _one_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(exporters.BACKENDS):
        monkeypatch.delitem(exporters.BACKENDS, name)
    monkeypatch.setitem(exporters.BACKENDS, "neuron", stubs.BACKENDS["neuron"])


def made(*bases: type, **attributes: Any) -> type[ExportTesterMixin]:
    parents = bases or (ExportTesterMixin, unittest.TestCase)
    return type("MadeTest", parents, {"__module__": __name__, **attributes})


def generated(test_class: type) -> list[str]:
    return unittest.TestLoader().getTestCaseNames(test_class)


def class_named(name: str, module: str = __name__, **attributes: Any) -> type:
    return type(name, (), {"__module__": module, **attributes})


def test_names_give_a_test_for_each_variant() -> None:
    assert generated(made(all_model_classes=("BertModel", "BertForMaskedLM"))) == [
        "test_neuron_export_dynamic_BertForMaskedLM",
        "test_neuron_export_dynamic_BertModel",
        "test_neuron_export_static_BertForMaskedLM",
        "test_neuron_export_static_BertModel",
    ]


def test_a_test_knows_its_case() -> None:
    test_class = made(all_model_classes=("BertModel",))
    test = test_class("test_neuron_export_dynamic_BertModel")
    assert export_case_of(test) == ExportCase("BertModel", "bert", "neuron", dynamic=True)


def test_classes_count_by_their_names_and_give_their_model_type() -> None:
    config = class_named("OwnConfig", model_type="own")
    test_class = made(all_model_classes=(class_named("OwnModel", config_class=config),))
    case = export_case_of(test_class("test_neuron_export_static_OwnModel"))
    assert case is not None
    assert case.model_type == "own"


def test_a_model_type_gives_every_class_of_the_auto_mappings() -> None:
    names = {model.name for model in declared_classes(made(model_type="yolos"))}
    assert names == {"YolosModel", "YolosForObjectDetection"}


def test_a_tester_class_gives_the_classes_that_it_holds() -> None:
    tester = class_named(
        "Tester",
        base_model_class=class_named("OwnModel"),
        causal_lm_class=class_named("OwnForCausalLM"),
        token_classification_class=None,
        sequence_classification_class=class_named("OwnSequenceThing"),
    )
    test_class = made(all_model_classes=None, model_tester_class=tester)
    assert [model.name for model in declared_classes(test_class)] == [
        "OwnModel",
        "OwnForCausalLM",
        "OwnSequenceThing",
    ]


def test_a_tester_class_with_only_the_base_finds_the_others_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = ModuleType("modeling_own")
    for name in ("OwnModel", "OwnForCausalLM", "OwnForTokenClassification", "OtherForCausalLM"):
        setattr(module, name, class_named(name, "modeling_own"))
    monkeypatch.setitem(sys.modules, "modeling_own", module)
    tester = class_named("Tester", base_model_class=module.OwnModel, causal_lm_class=None)
    found = declared_classes(made(all_model_classes=None, model_tester_class=tester))
    assert [model.name for model in found] == [
        "OwnModel",
        "OwnForCausalLM",
        "OwnForTokenClassification",
    ]


def test_a_subclass_with_fewer_classes_does_not_run_its_parents_others() -> None:
    parent = made(all_model_classes=("BertModel", "BertForMaskedLM"))
    child = made(parent, all_model_classes=("BertModel",))
    assert generated(child) == [
        "test_neuron_export_dynamic_BertModel",
        "test_neuron_export_static_BertModel",
    ]
    assert len(generated(parent)) == 4


def test_a_subclass_that_names_nothing_runs_what_its_parent_runs() -> None:
    parent = made(all_model_classes=("BertModel",))
    assert generated(made(parent)) == generated(parent)


def test_a_test_written_by_hand_keeps_its_name() -> None:
    def test_neuron_export_static_BertModel(self: Any) -> None: ...

    by_hand = test_neuron_export_static_BertModel
    test_class = made(all_model_classes=("BertModel",), **{by_hand.__name__: by_hand})
    assert vars(test_class)[by_hand.__name__] is by_hand


def test_what_transformers_has_and_is_no_model_is_called_no_model_class() -> None:
    assert unknown_class("RobertaConfig") == (
        "transformers has no model class 'RobertaConfig'; nearest: RobertaModel"
    )


# B45: two tests of one name are told when they are collected.
def test_two_classes_of_one_name_are_an_error_that_names_both() -> None:
    twins = (class_named("BertModel", "first"), class_named("BertModel", "second"))
    with pytest.raises(DuplicateModelClassError, match="first.BertModel and second.BertModel"):
        made(all_model_classes=twins)


def test_a_name_that_is_given_twice_is_an_error() -> None:
    with pytest.raises(DuplicateModelClassError, match="'BertModel' and 'BertModel'"):
        made(all_model_classes=("BertModel", "BertModel"))


def test_one_name_instead_of_a_sequence_is_an_error() -> None:
    with pytest.raises(TypeError, match="must be a sequence"):
        made(all_model_classes="BertModel")


def test_as_many_tests_as_classes_times_variants() -> None:
    classes = declared_classes(made(model_type="bert"))
    assert len(generated(made(model_type="bert"))) == 2 * len(classes)


def test_the_mixin_behind_the_test_case_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"before unittest\.TestCase"):
        made(unittest.TestCase, ExportTesterMixin, all_model_classes=("BertModel",))


def test_a_subclass_of_no_test_case_has_tests_for_its_heirs() -> None:
    shared = made(ExportTesterMixin, all_model_classes=("BertModel",))
    assert len(generated(made(shared, unittest.TestCase))) == 2


def ended(test_class: type) -> tuple[str, str]:
    """How ``test_export`` of a class ends, and what it says."""
    result = unittest.TestResult()
    test_class("test_export").run(result)
    found = [("failed", said) for _, said in result.errors + result.failures]
    found += [("skipped", said) for _, said in result.skipped]
    (only,) = found
    return only


@pytest.mark.parametrize("attributes", [{}, {"all_model_classes": ()}])
def test_a_test_class_that_names_nothing_is_one_failing_test(attributes: dict[str, Any]) -> None:
    nothing = made(**attributes)
    assert generated(nothing) == ["test_export"]
    outcome, said = ended(nothing)
    assert outcome == "failed"
    assert "MadeTest names no model class" in said
    assert "set model_type or all_model_classes" in said


def test_what_other_test_classes_derive_from_may_name_nothing() -> None:
    base = made(all_model_classes=())
    heir = made(base, all_model_classes=("BertModel",))
    assert ended(base)[0] == "skipped"
    assert "test_export" not in generated(heir)


def test_an_heir_that_names_nothing_either_fails() -> None:
    heir = made(made())
    assert ended(heir)[0] == "failed"


def test_a_base_that_is_no_test_case_may_name_nothing() -> None:
    base = made(ExportTesterMixin, all_model_classes=())
    assert generated(base) == []
    assert ended(made(base, unittest.TestCase))[0] == "failed"


def test_a_test_class_that_waives_its_exports_may_name_nothing() -> None:
    assert ended(made(test_torch_exportable=False)) == (
        "skipped",
        "MadeTest.test_torch_exportable = False",
    )


def test_the_set_up_of_a_base_is_not_run_to_say_that_it_names_nothing() -> None:
    def set_up(self: Any) -> None:
        raise ValueError("model_tester_class is not set")

    assert "names no model class" in ended(made(setUp=set_up))[1]


def test_a_false_that_transformers_has_by_default_waives_nothing() -> None:
    from testing.mixin import waiver_of

    default = type("ModelTesterMixin", (), {"test_torch_exportable": False})
    assert waiver_of(made(default, ExportTesterMixin, unittest.TestCase)) is None
    said = made(default, ExportTesterMixin, unittest.TestCase, test_torch_exportable=False)
    assert waiver_of(said) == "MadeTest.test_torch_exportable = False"


def test_tests_seem_to_stand_where_their_class_does(tmp_path: Path) -> None:
    file = tmp_path / "somewhere.py"
    code = compile(
        "class HereTest(Mixin, TestCase):\n    all_model_classes = ('BertModel',)", file, "exec"
    )
    namespace = {
        "__name__": "somewhere",
        "Mixin": ExportTesterMixin,
        "TestCase": unittest.TestCase,
    }
    exec(code, namespace)
    test: Any = vars(namespace["HereTest"])["test_neuron_export_static_BertModel"]
    place = test.place_as.__code__
    assert (place.co_filename, place.co_firstlineno) == (str(file), 1)


COLLECT = """
import sys, pytest
code = pytest.main(["--collect-only", "-q", "-p", "testing.plugin", "-p", "no:cacheprovider",
                    "-p", "no:hypothesispytest", *sys.argv[1:]])
heavy = {"torch", "transformers", "torch_xla", "rich"} & set(sys.modules)
sys.exit(f"imported {heavy}, pytest's code is {code}" if heavy or code else 0)
"""


def test_collection_imports_neither_torch_nor_transformers(tmp_path: Path) -> None:
    (tmp_path / "test_host.py").write_text(
        "import unittest\nfrom testing.mixin import ExportTesterMixin\n"
        "class BertTest(ExportTesterMixin, unittest.TestCase):\n    model_type = 'bert'\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", COLLECT, "--rootdir", tmp_path, tmp_path / "test_host.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "test_neuron_export_dynamic_BertForMaskedLM" in ended.stdout


def test_a_class_that_nothing_can_run_is_skipped_with_the_reason() -> None:
    """No finding about a backend: `BarkModel` has no forward."""

    class BarkExportTest(ExportTesterMixin, unittest.TestCase):
        all_model_classes = ("BarkModel",)

    test = BarkExportTest("test_neuron_export_static_BarkModel")
    with pytest.raises(unittest.SkipTest, match="cannot be run: the class has no forward"):
        test.subject("BarkModel")
