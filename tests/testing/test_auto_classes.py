"""Classes of the auto mappings, against a hand-made transformers and the installed one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testing import auto_classes

MODELING_AUTO = """
from collections import OrderedDict
import torch_that_does_not_exist

MODEL_MAPPING_NAMES = OrderedDict(
    [("alpha", "AlphaModel"), ("beta-text", ("BetaModel", "BetaBaseModel")), ("old", "OldModel")]
)
MODEL_FOR_CAUSAL_LM_MAPPING_NAMES = OrderedDict(
    [("alpha", "AlphaForCausalLM"), ("alias", "AlphaModel"), ("alpha", "AlphaModel")]
)
MODEL_FOR_AUDIO_TOKENIZATION_NAMES = OrderedDict([("alpha", "AlphaTokenizer")])
PROCESSOR_MAPPING_NAMES = OrderedDict([("alpha", "AlphaProcessor")])
MODEL_MAPPING = _LazyAutoMapping(CONFIG_MAPPING_NAMES, MODEL_MAPPING_NAMES)
"""
CONFIGURATION_AUTO = 'SPECIAL_MODEL_TYPE_TO_MODULE_NAME = OrderedDict([("beta-text", "beta")])'
MODELING = {
    "alpha": "class AlphaModel(Base): ...\nclass AlphaForCausalLM(Base): ...",
    "beta": "class BetaModel(Base): ...\nclass BetaBaseModel(Base): ...",
    "deprecated/old": "class OldModel(Base): ...",
}


@pytest.fixture
def handmade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A transformers whose import would fail, first on the path."""
    root = tmp_path / "transformers"
    for package, source in MODELING.items():
        folder = root / "models" / package
        folder.mkdir(parents=True)
        (folder / f"modeling_{folder.name}.py").write_text(source)
    auto = root / "models" / "auto"
    auto.mkdir()
    (auto / "modeling_auto.py").write_text(MODELING_AUTO)
    (auto / "configuration_auto.py").write_text(CONFIGURATION_AUTO)
    (root / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.setattr(auto_classes, "transformers_root", lambda: root)
    return root


@pytest.mark.usefixtures("handmade")
class TestHandmadeTransformers:
    def test_a_type_has_the_classes_of_every_table_once(self) -> None:
        assert auto_classes.classes_of("alpha") == (
            "AlphaModel",
            "AlphaForCausalLM",
            "AlphaTokenizer",
        )

    def test_a_tuple_of_classes_counts_as_each(self) -> None:
        assert auto_classes.classes_of("beta-text") == ("BetaModel", "BetaBaseModel")

    def test_tables_that_hold_no_models_are_left_out(self) -> None:
        assert "AlphaProcessor" not in auto_classes.known_classes()

    def test_a_shared_class_belongs_to_the_package_that_defines_it(self) -> None:
        assert auto_classes.model_types_of("AlphaModel") == ("alpha", "alias")
        assert auto_classes.model_type_of("AlphaModel") == "alpha"

    @pytest.mark.parametrize(
        ("name", "module"),
        [
            ("AlphaModel", "transformers.models.alpha.modeling_alpha"),
            ("BetaModel", "transformers.models.beta.modeling_beta"),
            ("OldModel", "transformers.models.deprecated.old.modeling_old"),
            ("AlphaTokenizer", None),
        ],
    )
    def test_the_module_is_where_the_class_is_defined(self, name: str, module: str | None) -> None:
        assert auto_classes.module_of(name) == module

    def test_an_unknown_type_is_an_error_that_names_the_nearest(self) -> None:
        with pytest.raises(auto_classes.UnknownModelTypeError, match="'alpa'; nearest: alpha"):
            auto_classes.classes_of("alpa")

    def test_an_unknown_class_has_no_type(self) -> None:
        assert auto_classes.model_type_of("GammaModel") is None

    def test_nearest_ranks_known_names(self) -> None:
        assert auto_classes.nearest("AlphaForCausallm")[0] == "AlphaForCausalLM"


def test_without_transformers_the_error_tells_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(auto_classes.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(auto_classes.TransformersMissingError, match="make models"):
        auto_classes.classes_of("bert")


def test_reading_the_installed_mappings_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from testing import auto_classes as a;"
        "assert 'BertModel' in a.classes_of('bert'); assert a.module_of('GPT2Model');"
        "assert a.model_type_of('GPT2Model') == 'gpt2';"
        "assert len(a.known_classes()) > 1000;"
        "loaded = {'torch', 'transformers'} & set(sys.modules); assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
