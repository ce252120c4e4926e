"""The registry and the context manager: what is applied, and that nothing of it remains."""

from __future__ import annotations

import copy
import dataclasses
import subprocess
import sys
import warnings
from typing import Any

import pytest
import torch
from torch import nn
from transformers.models.convbert import modeling_convbert
from transformers.models.yolos import modeling_yolos

import exporters.neuron.patches as patches
from exporters.base import Selection
from exporters.neuron.patches import (
    PATCHES,
    PatchTargetMissingError,
    PatchTargetMissingWarning,
    TracePatch,
    UnknownPatchError,
    check_targets,
    trace_patches,
)
from exporters.neuron.patches.base import Target
from tests.exporters import patch_models as models

PATCHED = {
    "Wav2Vec2Model": "weight_norm",
    "YolosModel": "yolos",
    "ConvBertModel": "convbert",
    "MixtralModel": "experts",
    "ProphetNetModel": "prophetnet",
}
PATCHED = {name: patch for name, patch in PATCHED.items() if PATCHES[patch].is_of_use}


class Both(nn.Module):
    """A model that needs two patches."""

    def __init__(self) -> None:
        super().__init__()
        self.speech = models.build("Wav2Vec2Model")
        self.text = models.build("ConvBertModel")


@pytest.fixture
def extra(monkeypatch: pytest.MonkeyPatch) -> list[TracePatch]:
    """Patches that are registered after the real ones, for one test."""
    added: list[TracePatch] = []

    class Registry(dict[str, TracePatch]):
        def items(self) -> Any:
            return (PATCHES | {patch.name: patch for patch in added}).items()

    monkeypatch.setattr(patches, "PATCHES", Registry(PATCHES))
    return added


def same(found: dict[str, Any], expected: dict[str, Any], patch: str) -> bool:
    """Whether outputs are equal, as exactly as the patch says."""
    far = PATCHES[patch].tolerance
    return all((found[path] - value).abs().max() <= far for path, value in expected.items())


def failing_patch(fault: Exception) -> TracePatch:
    """Changes all that a patch may change, and raises half way."""

    def apply(modules: Any, inputs: Any) -> None:
        for module in modules:
            module.register_buffer("halfway", torch.zeros(1))
            module.register_forward_pre_hook(lambda *_: None)
            module.forward = lambda *_, **__: None
            module.training = not module.training
            module._parameters = dict(reversed(list(module._parameters.items())))
            module.__class__ = type("Patched", (type(module),), {})
        raise fault

    return TracePatch("half", "Fails.", (), lambda model: list(model.modules()), apply)


def test_every_patch_names_the_upstream_issue_and_what_it_replaces() -> None:
    assert list(PATCHES) == [
        "held",
        "weight_norm",
        "yolos",
        "convbert",
        "experts",
        "prophetnet",
        "last_token",
        "patch_positions",
        "covered_patches",
        "image_tokens",
        "language_cache",
        "pooled_lengths",
        "skipped_masks",
        "special_tokens",
        "whole_rows",
    ]
    for name, patch in PATCHES.items():
        assert patch.name == name
        assert patch.issue == "aws-neuron/aws-neuron-sdk#1265"
        assert patch.targets
        assert patch.summary


def test_the_registry_is_read_without_torch() -> None:
    code = "import sys, exporters.neuron.patches; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_the_installed_torch_and_transformers_have_every_target() -> None:
    check_targets()


@pytest.mark.parametrize("model_class", PATCHED)
def test_a_selection_leaves_the_others_out(model_class: str) -> None:
    model, inputs = models.build(model_class), models.inputs_of(model_class)
    name = PATCHED[model_class]
    before = models.Fingerprint(model)
    for text, expected in (("off", ()), (name, (name,)), ("on", (name,))):
        with trace_patches(model, inputs, Selection.parse(text)) as applied:
            assert applied == expected
            assert bool(before.differs(model)) is bool(expected)
    others = ",".join(set(PATCHES) - {name})
    with trace_patches(model, inputs, Selection.parse(others)) as applied:
        assert applied == ()


def test_an_unknown_name_is_refused_with_those_that_exist() -> None:
    with (
        pytest.raises(UnknownPatchError, match=r"weight_nrm; there are: held, weight_norm, yolos"),
        trace_patches(nn.Linear(1, 1), {}, Selection.parse("weight_nrm")),
    ):
        pytest.fail("entered")


@pytest.mark.parametrize("model_class", PATCHED)
def test_a_trace_that_raises_leaves_the_model_as_it_was(model_class: str) -> None:
    model, inputs = models.build(model_class), models.inputs_of(model_class)

    def explode(*_: Any) -> None:
        raise ZeroDivisionError

    last = list(model.modules())[-1]
    last.register_forward_hook(explode)
    before = models.Fingerprint(model)
    with pytest.raises(ZeroDivisionError), trace_patches(model, inputs):
        models.run(model, inputs)
    assert not before.differs(model)


@pytest.mark.parametrize("model_class", PATCHED)
def test_a_patch_that_raises_half_way_leaves_the_model_as_it_was(
    model_class: str, extra: list[TracePatch]
) -> None:
    extra.append(failing_patch(ZeroDivisionError()))
    model, inputs = models.build(model_class), models.inputs_of(model_class)
    before = models.Fingerprint(model)
    with pytest.raises(ZeroDivisionError), trace_patches(model, inputs):
        pytest.fail("entered")
    assert not before.differs(model)


@pytest.mark.parametrize("model_class", PATCHED)
def test_what_the_forward_leaves_behind_is_undone(model_class: str) -> None:
    model, inputs = models.build(model_class), models.inputs_of(model_class)
    before = models.Fingerprint(model)
    with trace_patches(model, inputs):
        for module in model.modules():
            module.left_behind = torch.zeros(1)
            module._forward_hooks[0] = lambda *_: None
            for part in (vars(module), module._parameters, module._modules):
                if part:
                    first = next(iter(part))
                    part[first] = part.pop(first)  # the same objects in another order
        model.train()
    assert not before.differs(model)


@pytest.mark.parametrize("old_form", [False, True])
@pytest.mark.parametrize("model_class", PATCHED)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_nested_uses_end_one_after_the_other(
    model_class: str, old_form: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if old_form:
        monkeypatch.delattr(torch.nn.utils.parametrizations, "weight_norm")
    model, inputs = models.build(model_class), models.inputs_of(model_class)
    unpatched = models.run(model, inputs)
    before = models.Fingerprint(model)
    with trace_patches(model, inputs) as outer:
        between = models.Fingerprint(model)
        with trace_patches(model, inputs) as inner:
            assert inner == outer == (PATCHED[model_class],)
            patched = models.run(model, inputs)
            names = list(models.named_tensors(model))
        assert not between.differs(model)
        assert list(models.named_tensors(model)) == names
    assert not before.differs(model)
    assert same(patched, unpatched, PATCHED[model_class])


def test_two_patches_apply_to_one_model_and_are_both_undone() -> None:
    model = Both()
    before = models.Fingerprint(model)
    with trace_patches(model, {}) as applied:
        assert applied == ("weight_norm", "convbert")
        assert before.differs(model)
    assert not before.differs(model)


def test_what_is_left_in_nested_containers_is_undone() -> None:
    model = torch.nn.Linear(2, 2)
    model.state = {"steps": [{"last": None}], "pair": ([1], {"a": 1})}
    with trace_patches(model, {"input": torch.ones(1, 2)}):
        model.state["steps"][0]["last"] = torch.ones(1)
        model.state["steps"].append({})
        model.state["pair"][0].append(2)
        model.state["pair"][1]["b"] = 2
    assert model.state == {"steps": [{"last": None}], "pair": ([1], {"a": 1})}


def test_handles_of_hooks_still_work_afterwards() -> None:
    model, inputs = models.build("ConvBertModel"), models.inputs_of("ConvBertModel")
    calls: list[int] = []
    handle = model.register_forward_hook(lambda *_: calls.append(1))
    with trace_patches(model, inputs):
        model._forward_hooks.clear()
    models.run(model, inputs)
    handle.remove()
    models.run(model, inputs)
    assert calls == [1]


@pytest.mark.parametrize("model_class", PATCHED)
def test_a_deep_copy_made_while_patched_uses_its_own_tensors(model_class: str) -> None:
    model, inputs = models.build(model_class), models.inputs_of(model_class)
    with trace_patches(model, inputs):
        twin = copy.deepcopy(model)
        with torch.no_grad():
            for tensor in models.named_tensors(model).values():
                if tensor.is_floating_point():
                    tensor.fill_(float("nan"))
    expected = models.run(models.build(model_class), inputs)
    assert same(models.run(twin, inputs), expected, PATCHED[model_class])


@pytest.mark.parametrize("old_form", [False, True])
@pytest.mark.parametrize("model_class", PATCHED)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_other_weights_go_in_by_name_and_give_the_other_model(
    model_class: str, old_form: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # B04: a runtime traces one model and runs with the weights of another.
    if old_form:
        monkeypatch.delattr(torch.nn.utils.parametrizations, "weight_norm")
    traced, other = models.build(model_class), models.build(model_class, seed=5)
    inputs = models.inputs_of(model_class)
    expected = models.run(other, inputs)
    with trace_patches(other, inputs):
        tensors = models.named_tensors(other)
    with trace_patches(traced, inputs):
        assert list(models.named_tensors(traced)) == list(tensors)
        found = models.run_with(traced, tensors, inputs)
    own = models.run(traced, inputs)
    assert same(found, expected, PATCHED[model_class])
    assert not any(torch.equal(found[path], value) for path, value in own.items())


@pytest.mark.parametrize("model_class", PATCHED)
def test_the_state_dict_has_no_more_keys_while_patched(model_class: str) -> None:
    model, inputs = models.build(model_class), models.inputs_of(model_class)
    keys = list(model.state_dict())
    with trace_patches(model, inputs):
        assert list(model.state_dict()) == keys


GONE = [
    ("YolosModel", modeling_yolos, "InterpolateInitialPositionEmbeddings"),
    ("YolosModel", modeling_yolos, "InterpolateMidPositionEmbeddings"),
    ("YolosModel", modeling_yolos, "YolosEncoder"),
    ("ConvBertModel", modeling_convbert, "ConvBertSelfAttention"),
    ("Wav2Vec2Model", torch.nn.utils.parametrizations, "_WeightNorm"),
    ("Wav2Vec2Model", sys.modules["torch.nn.utils.weight_norm"], "WeightNorm"),
]


@pytest.mark.parametrize(("model_class", "module", "name"), GONE)
def test_a_target_that_is_gone_is_an_error_in_tests_and_a_warning_in_a_run(
    model_class: str, module: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, inputs = models.build(model_class), models.inputs_of(model_class)
    monkeypatch.setattr(module, f"{name}Renamed", getattr(module, name), raising=False)
    monkeypatch.delattr(module, name)
    patch = PATCHED[model_class]
    with pytest.raises(PatchTargetMissingError, match=rf"{patch}: .*{name}.* does not exist"):
        check_targets()
    with (
        pytest.warns(PatchTargetMissingWarning, match=rf"{patch} is left out for {model_class}"),
        trace_patches(model, inputs) as applied,
    ):
        assert applied == ()


def test_the_warning_ends_no_run_of_this_project(monkeypatch: pytest.MonkeyPatch) -> None:
    model, inputs = models.build("YolosModel"), models.inputs_of("YolosModel")
    monkeypatch.delattr(modeling_yolos, "YolosEncoder")
    # The filters of pyproject.toml hold, where warnings of our own modules are errors.
    with warnings.catch_warnings(record=True) as caught, trace_patches(model, inputs):
        pass
    assert [warning.category for warning in caught] == [PatchTargetMissingWarning]


def test_a_target_whose_body_changed_is_missing_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(self: Any, hidden_states: Any, *_: Any, **__: Any) -> Any:
        return (hidden_states,)

    monkeypatch.setattr(modeling_convbert.ConvBertSelfAttention, "forward", forward)
    with pytest.raises(PatchTargetMissingError, match="no longer refers to unfold"):
        check_targets()


def test_code_that_stands_beside_the_target_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    model = models.build("ConvBertModel")
    monkeypatch.setattr(
        modeling_convbert,
        "ConvBertSelfAttention",
        type("Other", (nn.Module,), {"forward": modeling_convbert.ConvBertSelfAttention.forward}),
    )
    with (
        pytest.warns(PatchTargetMissingWarning, match="no module of this model"),
        trace_patches(model, {}) as applied,
    ):
        assert applied == ()


def test_a_missing_target_of_another_model_is_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(modeling_yolos, "YolosEncoder")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with trace_patches(models.build("BertModel"), models.inputs_of("BertModel")) as applied:
            assert applied == ()


@pytest.mark.parametrize("requires", ["torch<1", "no-such-package"])
def test_a_patch_for_another_release_is_left_out_without_a_word(
    requires: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch = dataclasses.replace(
        failing_patch(AssertionError("applied")),
        targets=(Target("gone:Thing"),),
        requires=requires,
    )
    monkeypatch.setattr(patches, "PATCHES", {patch.name: patch})
    check_targets([patch])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with trace_patches(nn.Linear(2, 2), {}) as applied:
            assert applied == ()


def test_a_package_that_is_not_installed_is_a_missing_target() -> None:
    patch = dataclasses.replace(PATCHES["yolos"], targets=(Target("no_such_package:Thing"),))
    with pytest.raises(PatchTargetMissingError, match="no_such_package:Thing does not exist"):
        check_targets([patch])
