"""The neuron backend: which runtime serves, and what surrounds a trace."""

from __future__ import annotations

import copy
import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from transformers import (  # noqa: E402
    BertConfig,
    BertModel,
    Wav2Vec2Config,
    Wav2Vec2Model,
    YolosConfig,
    YolosModel,
)

from exporters import get_backend  # noqa: E402
from exporters.base import (  # noqa: E402
    BackendUnavailableError,
    ExportOptions,
    Selection,
    WeightsInlinedError,
)
from exporters.neuron import NeuronBackend, UnloweredOpError, lazy, neuronx  # noqa: E402
from exporters.tree import tensor_leaves  # noqa: E402
from tests.exporters.torch_neuronx_double import Double  # noqa: E402

UNPATCHED = NO_LOWERINGS = Selection(everything=False)
TINY = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
}


def wav2vec2() -> tuple[torch.nn.Module, dict[str, Any]]:
    convolutions = {"conv_dim": (8, 8), "conv_stride": (4, 4), "conv_kernel": (8, 4)}
    config = Wav2Vec2Config(
        **TINY,
        **convolutions,
        num_feat_extract_layers=2,
        num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2,
    )
    return Wav2Vec2Model(config).eval(), {"input_values": torch.randn(2, 400)}


def yolos() -> tuple[torch.nn.Module, dict[str, Any]]:
    config = YolosConfig(**TINY, image_size=[32, 32], patch_size=16, num_detection_tokens=2)
    return YolosModel(config).eval(), {"pixel_values": torch.randn(2, 3, 64, 32)}


def bert() -> tuple[torch.nn.Module, dict[str, Any]]:
    config = BertConfig(**TINY, vocab_size=20)
    mask = torch.tensor([[1, 1, 1], [1, 1, 0]])
    inputs = {"input_ids": torch.tensor([[3, 4, 5], [6, 7, 0]]), "attention_mask": mask}
    return BertModel(config).eval(), inputs


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Say which of the toolkits are installed."""

    def install(neuronx_installed: bool, xla_installed: bool) -> None:
        monkeypatch.setattr(neuronx, "is_installed", lambda: neuronx_installed)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: xla_installed or None)

    return install


@pytest.mark.parametrize(
    ("requested", "installed", "runtime"),
    [
        ("auto", (True, True), "neuronx"),
        ("auto", (False, True), "xla"),
        ("neuronx", (True, True), "neuronx"),
        ("xla", (True, True), "xla"),
    ],
)
def test_auto_prefers_the_real_runtime(
    modules: Callable[..., None], requested: str, installed: tuple[bool, bool], runtime: str
) -> None:
    modules(*installed)
    assert NeuronBackend().resolve_runtime(requested) == runtime


@pytest.mark.parametrize(
    ("requested", "installed", "command"),
    [
        ("auto", (False, False), "pip install 'export-harness[xla]'"),
        ("xla", (True, False), "pip install 'export-harness[xla]'"),
        ("neuronx", (False, True), "torch-neuronx"),
    ],
)
def test_what_is_missing_comes_with_its_command(
    modules: Callable[..., None], requested: str, installed: tuple[bool, bool], command: str
) -> None:
    modules(*installed)
    with pytest.raises(BackendUnavailableError) as error:
        NeuronBackend().resolve_runtime(requested)
    assert command in error.value.install


def test_an_unknown_runtime_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match="'tpu'; there are: auto, neuronx, xla"):
        NeuronBackend().resolve_runtime("tpu")


def test_an_unknown_backend_is_refused_with_those_that_exist() -> None:
    with pytest.raises(KeyError, match="no backend is called 'tvm'; there are: neuron"):
        get_backend("tvm")


@pytest.mark.parametrize(
    ("build", "patches"),
    [(wav2vec2, ("weight_norm",)), (yolos, ("yolos",)), (bert, ())],
    ids=["wav2vec2", "yolos", "bert"],
)
def test_patches_are_applied_named_and_undone(
    build: Callable[[], tuple[torch.nn.Module, dict[str, Any]]], patches: tuple[str, ...]
) -> None:
    model, inputs = build()
    names = list(dict(model.named_parameters()))
    exported = NeuronBackend().export(model, inputs, ExportOptions(runtime="xla"))
    assert exported.patches == patches
    assert list(dict(model.named_parameters())) == names
    assert_matches(exported, model, inputs)


@pytest.mark.parametrize("build", [wav2vec2, yolos, bert])
def test_other_weights_reach_what_a_patch_computed(
    build: Callable[[], tuple[torch.nn.Module, dict[str, Any]]],
) -> None:
    model, inputs = build()
    exported = NeuronBackend().export(model, inputs, ExportOptions(runtime="xla"))
    other = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    assert_matches(exported.with_weights(other), other, inputs)


def assert_matches(exported: Any, model: torch.nn.Module, inputs: dict[str, Any]) -> None:
    with torch.no_grad():
        eager = tensor_leaves(model(**inputs))
    result = tensor_leaves(exported(inputs))
    assert list(result) == list(eager)
    for path, leaf in eager.items():
        torch.testing.assert_close(result[path], leaf, atol=1e-5, rtol=1e-4)


def test_without_patches_the_guard_names_op_parameter_and_line() -> None:
    model, inputs = yolos()
    options = ExportOptions(runtime="xla", patches=UNPATCHED, lowerings=NO_LOWERINGS)
    with pytest.raises(UnloweredOpError) as error:
        NeuronBackend().export(model, inputs, options)
    assert error.value.op == "aten::upsample_bicubic2d"
    assert "parameter embeddings.position_embeddings" in error.value.operand
    assert error.value.source is not None
    assert error.value.source.startswith("modeling_yolos.py:")
    assert error.value.module == "embeddings.interpolation"


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> Double:
    double = Double(on_placeholders=True)
    monkeypatch.setitem(sys.modules, "torch_neuronx", double.module())
    monkeypatch.setattr(neuronx, "has_device", lambda: True)
    return double


def test_neuronx_is_guarded_while_the_toolkit_traces(double: Double) -> None:
    model, inputs = yolos()
    options = ExportOptions(runtime="neuronx", patches=UNPATCHED, lowerings=NO_LOWERINGS)
    with pytest.raises(UnloweredOpError) as error:
        NeuronBackend().export(model, inputs, options)
    assert error.value.operand.endswith("derived from parameter embeddings.position_embeddings")
    assert len(double.calls) == 1


def test_neuronx_folds_with_the_real_weights_while_the_toolkit_traces(double: Double) -> None:
    model, inputs = yolos()
    options = ExportOptions(runtime="neuronx", patches=UNPATCHED)
    exported = NeuronBackend().export(model, inputs, options)
    assert exported.lowerings == ("fold:upsample_bicubic2d",)
    assert double.staged is not None
    placeholders, outputs = double.staged
    # FlatForward holds the model as `model`.
    real = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    by_id = {lazy.tensor_id(t): real[name] for name, t in placeholders.items() if name in real}
    leaves = lazy.graph_leaves(outputs)
    arguments = [lazy.to_device(by_id[i]) if i in by_id else value for i, value in leaves]
    computed = lazy.run_stablehlo(lazy.stablehlo(outputs), arguments)
    with torch.no_grad():
        eager = tensor_leaves(model(**inputs))
    for leaf, found in zip(eager.values(), computed, strict=True):
        torch.testing.assert_close(found.cpu(), leaf, atol=1e-5, rtol=1e-4)


@pytest.fixture
def separate(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights stay beside the program."""
    monkeypatch.setattr(neuronx, "trace", partial(neuronx.trace, inline_weights=False))


@pytest.mark.usefixtures("separate")
def test_neuronx_takes_no_weights_that_would_be_folded_to_something_else() -> None:
    model, inputs = yolos()
    options = ExportOptions(runtime="neuronx", patches=UNPATCHED)
    exported = NeuronBackend().export(model, inputs, options)
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.encoder.layer[0].output.dense.bias.add_(1)  # nothing was folded of it
    assert_matches(exported.with_weights(other), other, inputs)
    with torch.no_grad():
        other.embeddings.position_embeddings.add_(1)
    with pytest.raises(WeightsInlinedError, match=r"upsample_bicubic2d.* export it again"):
        exported.with_weights(other)


@pytest.mark.usefixtures("separate")
def test_neuronx_takes_no_weights_of_another_model_for_what_was_folded() -> None:
    model, inputs = yolos()
    options = ExportOptions(runtime="neuronx", patches=UNPATCHED)
    exported = NeuronBackend().export(model, inputs, options)
    with pytest.raises(WeightsInlinedError, match=r"no weight embeddings\.position_embeddings"):
        exported.with_weights(torch.nn.Linear(2, 2))


def test_a_toolkit_without_placeholders_needs_no_guard(double: Double) -> None:
    double.on_placeholders = False
    model, inputs = yolos()
    options = ExportOptions(runtime="neuronx", patches=UNPATCHED)
    exported = NeuronBackend().export(model, inputs, options)
    assert exported.baked_reads == ()
    assert_matches(exported, model, inputs)


def test_neuronx_is_patched_and_knows_what_was_read(double: Double) -> None:
    model, inputs = bert()
    exported = NeuronBackend().export(model, inputs, ExportOptions(runtime="neuronx"))
    assert [read.operands for read in exported.baked_reads] == [("attention_mask",)]
    model, inputs = yolos()
    exported = NeuronBackend().export(model, inputs, ExportOptions(runtime="neuronx"))
    assert len(exported.patches) == 1
    assert_matches(exported, model, inputs)
