"""The path without transformers' exporters, called directly: it works with any transformers."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from exporters import get_backend  # noqa: E402
from exporters.base import ExportedModel, ExportOptions, WeightsInlinedError  # noqa: E402
from exporters.flat import InputMismatchError  # noqa: E402
from exporters.hf import HfBackend, has_exporters  # noqa: E402
from testing.comparison import compare  # noqa: E402
from testing.registry.entries import Tolerance  # noqa: E402
from tests.exporters.hf.small_modules import Swapped, Tied  # noqa: E402

ROUNDING = Tolerance(atol=1e-5, rtol=1e-5)
SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
STATIC = ExportOptions()


@pytest.fixture(params=["dynamo", "onnx", "openvino"])
def backend(request: pytest.FixtureRequest) -> HfBackend:
    found = get_backend(request.param)
    assert isinstance(found, HfBackend)
    for package in found.packages:
        pytest.importorskip(package, reason="needs: make install ENV=export")
    return found


def found_wrong(exported: ExportedModel, model: Any, inputs: dict[str, Any]) -> tuple[str, ...]:
    with torch.no_grad():
        eager = model(**inputs)
    return compare(eager, exported(inputs), ROUNDING).failures


def tokens(batch: int, length: int) -> dict[str, Any]:
    mask = torch.ones(batch, length, dtype=torch.long)
    mask[0, -2:] = 0
    return {"input_ids": torch.randint(1, 20, (batch, length)), "attention_mask": mask}


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_the_plain_path_in_this_environment_gives_a_bert_back(
    backend: HfBackend, dynamic: bool
) -> None:
    config = transformers.BertConfig(**SIZES, intermediate_size=16, vocab_size=20)
    model = transformers.BertModel(config).eval()
    exported = backend.export_plainly(model, tokens(2, 5), ExportOptions(dynamic=dynamic))
    for size in ((2, 5), (3, 7)) if dynamic else ((2, 5),):
        inputs = tokens(*size)
        assert found_wrong(exported, model, inputs) == ()
        assert type(exported(inputs)) is type(model(**inputs))


def test_the_plain_path_in_this_environment_binds_by_name(backend: HfBackend) -> None:
    model = Swapped()
    first, second = torch.tensor([[3.0, 1.0, 4.0]]), torch.tensor([[1.0, 5.0, 9.0]])
    inputs = {"doubled": False, "second": second, "types": first + 1, "first": first}
    exported = backend.export_plainly(model, inputs, STATIC)
    assert found_wrong(exported, model, dict(reversed(inputs.items()))) == ()
    assert found_wrong(exported, model, {**inputs, "first": second, "second": first}) == ()
    with pytest.raises(InputMismatchError, match="missing: types"):
        exported({"doubled": False, "first": first, "second": second})


def test_the_plain_path_in_this_environment_takes_other_weights_or_says_no(
    backend: HfBackend,
) -> None:
    model, inputs = Tied(), {"input_ids": torch.tensor([[1, 2, 3]])}
    exported = backend.export_plainly(model, inputs, STATIC)
    assert found_wrong(exported, model, inputs) == ()
    other = Tied()
    if backend.name == "dynamo":
        assert found_wrong(exported.with_weights(other), other, inputs) == ()
    else:
        with pytest.raises(WeightsInlinedError, match="holds its weights"):
            exported.with_weights(other)


@pytest.mark.skipif(has_exporters(), reason="transformers has exporters, which serve here")
def test_the_plain_path_serves_where_transformers_has_no_exporters() -> None:
    model, inputs = Tied(), {"input_ids": torch.tensor([[1, 2, 3]])}
    backend = get_backend("dynamo")
    assert backend.resolve_runtime() is None
    assert found_wrong(backend.export(model, inputs, STATIC), model, inputs) == ()
