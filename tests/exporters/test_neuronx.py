"""The runtime `neuronx` against a double with the documented signatures.

Nothing here ran on a Neuron device; see `torch_neuronx_double`.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM
from transformers.cache_utils import DynamicCache
from transformers.modeling_outputs import BaseModelOutput

from exporters.base import (
    BackendIncompatibleError,
    ExportError,
    ExportOptions,
    UnsupportedOutputError,
    WeightsInlinedError,
)
from exporters.flat import InputMismatchError
from exporters.neuron import neuronx
from tests.exporters.torch_neuronx_double import Double

STATIC, DYNAMIC = ExportOptions(), ExportOptions(dynamic=True)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Double]:
    """Put a double in torch_neuronx's place, on a machine with or without a device."""

    def install(double: Double | None = None, device: bool = True, **replaced: Any) -> Double:
        double = double or Double()
        monkeypatch.setitem(sys.modules, "torch_neuronx", double.module(**replaced))
        monkeypatch.setattr(neuronx, "has_device", lambda: device)
        return double

    return install


class Function(torch.nn.Module):
    """A function as a model."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.runs = 0
        self.eval()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        self.runs += 1
        return self.function(*args, **kwargs)


def run(function: Callable[..., Any], inputs: dict[str, Any], **other: Any) -> Any:
    """Trace `function` on `inputs` and run the program on `inputs` and `other`."""
    return neuronx.trace(Function(function), inputs, STATIC)({**inputs, **other})


# ------------------------------------------------------------------------ what is installed


def distribution(site: Path, version: str, code: str | None) -> None:
    """Lay out an installed torch-neuronx as pip does."""
    info = site / f"torch_neuronx-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: torch-neuronx\nVersion: {version}\n"
    )
    (site / "torch_neuronx").mkdir()
    if code is not None:
        (site / "torch_neuronx" / "__init__.py").write_text(code)


@pytest.mark.parametrize(
    ("version", "code", "expected"),
    [
        ("2.9.0.2.15.32035+aws", "raise SystemExit('imported')", True),
        ("2.9.0.2.15.32035", None, False),
        ("1.0", "", False),
    ],
    ids=["of-aws", "directory-without-code", "empty-package-of-pypi"],
)
def test_installed_is_told_without_importing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, code: str, expected: bool
) -> None:
    distribution(tmp_path, version, code)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert neuronx.is_installed() is expected
    assert "torch_neuronx" not in sys.modules


def test_absent_is_absent() -> None:
    assert neuronx.is_installed() is False


def test_asking_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from exporters.neuron import neuronx; neuronx.is_installed(); "
        "neuronx.has_device(); print({'torch', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [(["null"], False), (["neuron0"], True), (["neuron12", "null"], True), (["neurons"], False)],
)
def test_device_is_what_the_driver_shows(tmp_path: Path, nodes: list[str], expected: bool) -> None:
    for node in nodes:
        (tmp_path / node).touch()
    assert neuronx.has_device(tmp_path) is expected


def test_install_text_names_the_repository_of_aws() -> None:
    assert "https://pip.repos.neuron.amazonaws.com" in neuronx.INSTALL


# ---------------------------------------------------------------------- how trace is called

DOCUMENTED = (
    "(func, example_inputs, *_, input_output_aliases={}, compiler_workdir=None, "
    "compiler_args=None, partitioner_config=None, inline_weights_to_neff=True, "
    "cpu_backend=False)"
)


def test_double_has_the_documented_signatures() -> None:
    module = Double().module()
    assert str(inspect.signature(module.trace)) == DOCUMENTED
    assert str(inspect.signature(module.dynamic_batch)) == "(neuron_script)"


def bert() -> BertModel:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
    )
    return BertModel(config).eval()


def test_compiler_gets_the_flags_of_optimum_neuron(install: Callable[..., Double]) -> None:
    double = install()
    neuronx.trace(bert(), {"input_ids": torch.ones(2, 5, dtype=torch.long)}, STATIC)
    assert " ".join(double.calls[0].keywords["compiler_args"]) == (
        "--auto-cast none --optlevel 2 --target inf2 --model-type transformer"
    )


@pytest.mark.parametrize(
    ("model_type", "transformer"),
    [
        ("bert", True),
        ("mobilevitv2", True),
        ("wav2vec2-conformer", True),
        ("hubert", False),
        ("levit", False),
        ("mobilenet_v2", False),
        ("mobilevit", False),
        ("unispeech", False),
        ("unispeech-sat", False),
        ("wav2vec2", False),
        ("wavlm", False),
    ],
)
def test_model_type_flag_follows_the_model_type(model_type: str, transformer: bool) -> None:
    model = torch.nn.Module()
    model.config = type("Config", (), {"model_type": model_type})()
    assert ("transformer" in neuronx.compiler_args(model)) is transformer


def test_each_trace_has_a_work_directory_of_its_own(
    install: Callable[..., Double], tmp_path: Path
) -> None:
    double = install()
    options = ExportOptions(workdir=tmp_path / "case")
    for _ in range(2):
        neuronx.trace(Function(torch.neg), {"input": torch.ones(2)}, options)
    first, second = (Path(call.keywords["compiler_workdir"]) for call in double.calls)
    assert first != second
    assert first.is_dir()
    assert first.parent == second.parent == tmp_path / "case"


def test_without_a_work_directory_nothing_is_left(install: Callable[..., Double]) -> None:
    double = install()
    neuronx.trace(Function(torch.neg), {"input": torch.ones(2)}, STATIC)
    assert not Path(double.calls[0].keywords["compiler_workdir"]).exists()


def test_without_a_device_it_is_compiled_only(install: Callable[..., Double]) -> None:
    double = install(device=False)
    exported = neuronx.trace(Function(torch.neg), {"input": torch.ones(2)}, STATIC)
    assert double.calls[0].keywords["cpu_backend"] is True
    assert exported.runnable is False
    with pytest.raises(ExportError, match="without a Neuron device"):
        exported({"input": torch.ones(2)})


def test_with_a_device_it_runs(install: Callable[..., Double]) -> None:
    double = install()
    exported = neuronx.trace(Function(torch.neg), {"input": torch.ones(2)}, STATIC)
    assert double.calls[0].keywords["cpu_backend"] is False
    assert exported.runnable is True
    assert exported({"input": torch.tensor([2.0, 3.0])}).tolist() == [-2.0, -3.0]


# ------------------------------------------------------------------------- inputs, by name


def subtract(x1: Any, x2: Any, flag: bool = True, bias: Any = None) -> Any:
    out = x1 - 2 * x2 if flag else x1 - 3 * x2
    return out if bias is None else out + bias


@pytest.mark.parametrize(
    "order", [("x1", "x2", "flag"), ("flag", "x2", "x1"), ("x2", "flag", "x1")]
)
def test_keywords_of_any_order_reach_their_arguments(
    install: Callable[..., Double], order: tuple[str, ...]
) -> None:
    """B23: a flag never takes a tensor's place, and twins of one shape are not swapped."""
    install()
    inputs = {"x1": torch.tensor([10.0]), "x2": torch.tensor([1.0]), "flag": False}
    exported = neuronx.trace(Function(subtract), {name: inputs[name] for name in order}, STATIC)
    assert exported(inputs).tolist() == [7.0]
    assert exported({**inputs, "x1": torch.tensor([20.0])}).tolist() == [17.0]
    assert exported(dict(reversed(inputs.items()))).tolist() == [7.0]


@pytest.mark.parametrize("hole", [{}, {"mask": None}])
def test_hole_in_the_middle_is_not_shifted(
    install: Callable[..., Double], hole: dict[str, Any]
) -> None:
    """B23: the mask is left out, the later token types are given."""
    install()

    def forward(ids: Any, mask: Any = None, token_types: Any = None) -> Any:
        assert mask is None
        return ids + 100 * token_types

    inputs = {"ids": torch.tensor([1]), **hole, "token_types": torch.tensor([2])}
    assert run(forward, inputs).tolist() == [201]


def test_one_tensor_passed_twice_is_two_inputs(install: Callable[..., Double]) -> None:
    """B12: what was the same in the trace may differ in a run."""
    double = install()
    shared = torch.tensor([1.0])
    model = Function(lambda x, y: x - 2 * y)
    exported = neuronx.trace(model, {"x": shared, "y": shared}, STATIC)
    assert double.calls[0].shapes == [(1,), (1,)]
    assert exported({"x": torch.tensor([5.0]), "y": torch.tensor([1.0])}).tolist() == [3.0]


def test_one_tensor_twice_in_one_container_must_stay_one(install: Callable[..., Double]) -> None:
    install()
    one = torch.tensor([1.0])
    exported = neuronx.trace(Function(lambda xs: xs[0] + xs[1]), {"xs": [one, one]}, STATIC)
    assert exported({"xs": [one + 1, one + 1]}).tolist() == [4.0]
    with pytest.raises(InputMismatchError, match=r"xs\.0 and xs\.1 were one tensor"):
        exported({"xs": [one, one + 1]})


def test_cache_is_an_input_leaf_by_leaf(install: Callable[..., Double]) -> None:
    double = install()

    def cache(fill: float) -> DynamicCache:
        made = DynamicCache()
        made.update(torch.full((2, 1, 3, 4), fill), torch.full((2, 1, 3, 4), -fill), 0)
        return made

    def forward(x: Any, past: Any) -> Any:
        keys, values = past.update(x, x, 0)
        return {"sum": keys.sum((1, 2, 3)) + 2 * values.sum((1, 2, 3)), "past": past}

    x = torch.zeros(2, 1, 1, 4)
    exported = neuronx.trace(Function(forward), {"x": x, "past": cache(1.0)}, STATIC)
    assert len(double.calls[0].shapes) == 3
    fresh = cache(5.0)
    out = exported({"x": x, "past": fresh})
    assert out["sum"].tolist() == [-60.0, -60.0]  # 12 * 5 - 2 * 12 * 5
    assert isinstance(out["past"], DynamicCache)
    assert out["past"].layers[0].keys.shape == (2, 1, 4, 4)
    assert fresh.get_seq_length() == 3


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"x1": torch.ones(1)}, "missing: x2"),
        (
            {"x1": torch.ones(1), "x2": torch.ones(1), "bias": torch.ones(1)},
            "not in the trace: bias",
        ),
        ({"x1": torch.ones(1), "x2": torch.ones(1), "flag": False}, "flag is False, .* as None"),
    ],
)
def test_inputs_that_the_trace_did_not_have_are_refused(
    install: Callable[..., Double], inputs: dict[str, Any], words: str
) -> None:
    install()
    exported = neuronx.trace(
        Function(subtract), {"x1": torch.ones(1), "x2": torch.ones(1)}, STATIC
    )
    with pytest.raises(InputMismatchError, match=words):
        exported(inputs)


def test_the_callers_inputs_and_the_model_are_as_before(install: Callable[..., Double]) -> None:
    """B27: a model that changes its input changes a copy, in the trace and in every run."""
    install()
    model = bert()
    model.embeddings.train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    neuronx.trace(model, {"input_ids": torch.ones(1, 3, dtype=torch.long)}, STATIC)
    assert model.embeddings.training
    assert not model.encoder.training
    assert all(torch.equal(before[name], t) for name, t in model.state_dict().items())
    x = torch.zeros(2)
    assert run(lambda x: x.add_(1) * 2, {"x": x}).tolist() == [2.0, 2.0]
    assert x.tolist() == [0.0, 0.0]


# ---------------------------------------------------------------------- outputs, none lost

X = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x * 2, None, {"a": x + 1, "b": [x * 3, x * 4]}),
        lambda x: [x * 2],
        lambda x: {"only": x * 2},
        lambda x: (x * 2, (), [], {}),
        lambda x: BaseModelOutput(last_hidden_state=x * 2, attentions=(x + 1, x + 2)),
        lambda x: x * 2,
        lambda x: (x, x * 2),
        lambda x: (x * 2, x.T, x[:1]),
        lambda x: (x * 2, torch.arange(3)),
    ],
    ids=[
        "nested-with-none",
        "list-of-one",
        "dict",
        "empty-containers",
        "model-output",
        "bare",
        "an-input",
        "views",
        "constant",
    ],
)
def test_structure_comes_back_whole(
    install: Callable[..., Double], function: Callable[..., Any]
) -> None:
    """B03: every leaf under its own name, None where None was."""
    install()
    fresh = X + 10
    torch.testing.assert_close(run(function, {"x": X}, x=fresh), function(fresh), rtol=0, atol=0)
    assert type(run(function, {"x": X})) is type(function(X))


def test_what_is_no_tensor_comes_back_as_in_the_trace(install: Callable[..., Double]) -> None:
    install()
    out = run(lambda x: {"n": 7, "name": "text", "y": x * 2, "dtype": x.dtype}, {"x": X})
    assert (out["n"], out["name"], out["dtype"]) == (7, "text", torch.float32)
    assert torch.equal(out["y"], X * 2)


def test_names_stay_with_their_tensors(install: Callable[..., Double]) -> None:
    """B24: keys in another order than the alphabet's, equal shapes."""
    install()
    out = run(lambda x: {"b": x + 1, "a": x * 2}, {"x": torch.tensor(3.0)})
    assert {name: float(value) for name, value in out.items()} == {"a": 6.0, "b": 4.0}
    assert list(out) == ["b", "a"]


def test_same_tensor_under_two_names_is_carried_once(install: Callable[..., Double]) -> None:
    install()

    def forward(x: Any) -> Any:
        y = x * 2
        return {"y": y, "again": (y,)}

    out = run(forward, {"x": X}, x=X + 1)
    assert torch.equal(out["y"], (X + 1) * 2)
    assert torch.equal(out["again"][0], (X + 1) * 2)


@pytest.mark.parametrize("count", [1, 3])
def test_program_with_another_number_of_outputs_is_refused(
    install: Callable[..., Double], count: int
) -> None:
    """B18: a lost or an added output is never shifted into another's place."""
    install(Double(outputs=lambda tensors: (tensors * 2)[:count]))
    with pytest.raises(UnsupportedOutputError, match=f"gives {count} tensors, the model 2: a, b"):
        run(lambda x: {"a": x + 1, "b": x * 2}, {"x": X})


def test_output_without_tensors_is_unsupported(install: Callable[..., Double]) -> None:
    double = install()
    with pytest.raises(UnsupportedOutputError, match="no tensor"):
        run(lambda x: {"a": None}, {"x": X})
    assert double.calls == []


def test_structure_that_changes_in_the_trace_is_unsupported(
    install: Callable[..., Double],
) -> None:
    install()

    def forward(x: Any) -> Any:
        return {"b": x} if torch.jit.is_tracing() else {"a": x}

    with pytest.raises(
        UnsupportedOutputError, match="in the trace the model returns b, in eager a"
    ):
        run(forward, {"x": X})


def test_a_decoder_gives_logits_and_cache_on_fresh_inputs(install: Callable[..., Double]) -> None:
    install()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
    )
    model = LlamaForCausalLM(config).eval()
    traced, fresh = torch.randint(0, 50, (2, 6)), torch.randint(0, 50, (2, 6))
    exported = neuronx.trace(model, {"input_ids": traced}, STATIC)
    with torch.no_grad():
        eager = model(input_ids=fresh)
    out = exported({"input_ids": fresh})
    assert list(out) == list(eager)
    torch.testing.assert_close(out.logits, eager.logits)
    for got, expected in zip(
        out.past_key_values.layers, eager.past_key_values.layers, strict=True
    ):
        torch.testing.assert_close(got.keys, expected.keys)
        torch.testing.assert_close(got.values, expected.values)


# ------------------------------------------------------------------------ dynamic, weights


@pytest.mark.parametrize("batch", [1, 2, 4, 5])
def test_dynamic_takes_any_batch(install: Callable[..., Double], batch: int) -> None:
    install()
    model = bert()
    exported = neuronx.trace(model, {"input_ids": torch.ones(2, 5, dtype=torch.long)}, DYNAMIC)
    ids = torch.randint(0, 40, (batch, 5))
    with torch.no_grad():
        rows = torch.cat([model(input_ids=row[None]).last_hidden_state for row in ids])
    torch.testing.assert_close(exported({"input_ids": ids}).last_hidden_state, rows)


def test_static_takes_the_traced_batch_alone(install: Callable[..., Double]) -> None:
    install()
    with pytest.raises(ValueError, match="traced with"):
        run(lambda x: x * 2, {"x": X}, x=torch.ones(3, 2))


def test_inlined_weights_cannot_be_replaced(install: Callable[..., Double]) -> None:
    install()
    exported = neuronx.trace(torch.nn.Linear(2, 2), {"input": X}, STATIC)
    with pytest.raises(WeightsInlinedError, match="inline_weights_to_neff"):
        exported.with_weights(torch.nn.Linear(2, 2))


def test_separate_weights_are_replaced(install: Callable[..., Double]) -> None:
    """B04: the output is eager's with the new weights, not the old ones."""
    install()
    old, new = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    exported = neuronx.trace(old, {"input": X}, STATIC, inline_weights=False)
    torch.testing.assert_close(exported({"input": X}), old(X).detach())
    torch.testing.assert_close(exported.with_weights(new)({"input": X}), new(X).detach())


def test_toolkit_that_ignores_new_weights_shows(install: Callable[..., Double]) -> None:
    """B04 (ii): nothing here papers over stale weights."""
    install(Double(ignores_new_weights=True))
    old, new = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    exported = neuronx.trace(old, {"input": X}, STATIC, inline_weights=False)
    torch.testing.assert_close(exported.with_weights(new)({"input": X}), old(X).detach())


def test_toolkit_that_rounds_inlined_weights_shows(install: Callable[..., Double]) -> None:
    """B04 (i): off when inlined, right when separate; the mode decides, nothing repairs it."""
    install(Double(rounds_inlined_weights=True))
    model = torch.nn.Linear(64, 4)
    x = torch.randn(2, 64)
    inlined = neuronx.trace(model, {"input": x}, STATIC)({"input": x})
    separate = neuronx.trace(model, {"input": x}, STATIC, inline_weights=False)({"input": x})
    assert (inlined - model(x)).abs().max() > 1e-3
    torch.testing.assert_close(separate, model(x).detach())


# --------------------------------------------------------------------- another toolkit (B06)


def renamed(func, example_inputs, *_, compiler_workdir=None, compiler_flags=None):
    raise AssertionError("called although its argument has another name")


def older(func, example_inputs, *_, compiler_workdir=None, compiler_args=None):
    raise AssertionError("called although it has no cpu_backend")


@pytest.mark.parametrize(
    ("replaced", "options", "words"),
    [
        ({"trace": renamed}, STATIC, "compiler_args"),
        ({"trace": None}, STATIC, "no function trace"),
        ({"trace": older}, STATIC, "cpu_backend"),
        ({"dynamic_batch": None}, DYNAMIC, "no function dynamic_batch"),
        ({"dynamic_batch": lambda: None}, DYNAMIC, "dynamic_batch"),
    ],
    ids=["renamed", "gone", "older", "no-dynamic-batch", "dynamic-batch-without-argument"],
)
def test_other_interface_is_one_incompatibility_before_any_model_runs(
    install: Callable[..., Double], replaced: dict[str, Any], options: ExportOptions, words: str
) -> None:
    install(device=False, **replaced)
    models = [Function(torch.neg) for _ in range(20)]
    messages = set()
    for model in models:
        with pytest.raises(BackendIncompatibleError, match=words) as error:
            neuronx.trace(model, {"input": X}, options)
        messages.add(str(error.value))
    assert len(messages) == 1
    assert sum(model.runs for model in models) == 0


def test_incompatibility_names_both_sides(install: Callable[..., Double]) -> None:
    install(trace=renamed)
    with pytest.raises(BackendIncompatibleError) as error:
        neuronx.trace(Function(torch.neg), {"input": X}, STATIC)
    message = str(error.value)
    assert "compiler_flags=None" in message  # what was found
    assert "compiler_args" in message  # what was expected
    assert "torch-neuronx" in message
    assert f"torch {torch.__version__.partition('+')[0]}" in message
    assert "SDK 2.31" in message


def test_older_sdk_serves_where_a_device_is(install: Callable[..., Double]) -> None:
    """SDK 2.27's trace has no cpu_backend, and with a device it needs none."""
    double = Double()

    def trace(func, example_inputs, *_, compiler_workdir=None, compiler_args=None):
        return double.compile(func, example_inputs, {})

    install(double, trace=trace)
    assert run(torch.neg, {"input": X}).tolist() == (-X).tolist()


@pytest.mark.parametrize(
    ("double", "words"),
    [
        (Double(wraps=lambda program: (program, {}, [], None)), "trace returns a tuple of 4"),
        (Double(wraps=lambda program: None), "trace returns a NoneType"),
        (Double(outputs=lambda tensors: {"0": tensors[0]}), "a program returns a dict"),
    ],
    ids=["four-items", "nothing", "a-dict"],
)
def test_other_return_values_are_an_incompatibility(
    install: Callable[..., Double], double: Double, words: str
) -> None:
    install(double)
    with pytest.raises(BackendIncompatibleError, match=words):
        run(torch.neg, {"input": X})


def test_toolkit_that_cannot_be_imported_is_an_incompatibility(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distribution(tmp_path, "2.9.0.2.15.32035", "import libneuronxla_that_is_missing")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BackendIncompatibleError, match="2.9.0.2.15.32035.*libneuronxla_that"):
        neuronx.trace(Function(torch.neg), {"input": X}, STATIC)
