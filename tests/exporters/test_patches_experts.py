"""Mixtures of experts with every token for every expert: the same sums, no shape that depends."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from transformers import MixtralConfig
from transformers.models.mixtral import modeling_mixtral

from exporters.base import Selection
from exporters.neuron.patches import PATCHES, trace_patches
from exporters.neuron.patches.experts import EXPERTS
from exporters.tree import tensor_leaves
from testing.auto_classes import known_classes
from testing.pipeline.prepare import normalise
from testing.pipeline.trials import run_once
from testing.subject import Subject
from testing.tiny import build
from tests.exporters import patch_models as models

ONLY = Selection.parse("experts")
FAMILIES = {
    "AriaTextModel",
    "DbrxModel",
    "DeepseekV2Model",
    "DeepseekV3Model",
    "Dots1Model",
    "Ernie4_5_MoeModel",
    "FlexOlmoModel",
    "GPTSanJapaneseForConditionalGeneration",
    "Glm4MoeModel",
    "Glm4vMoeTextModel",
    "GraniteMoeHybridModel",
    "GraniteMoeModel",
    "GraniteMoeSharedModel",
    "HunYuanMoEV1Model",
    "JambaModel",
    "JetMoeModel",
    "LongcatFlashModel",
    "MiniMaxModel",
    "MixtralModel",
    "NllbMoeModel",
    "OlmoeModel",
    "PhimoeModel",
    "Qwen2MoeModel",
    "Qwen3MoeModel",
    "Qwen3NextModel",
    "SwitchTransformersModel",
}
DENSE = {"Llama4TextModel", "BertModel", "VitPoseBackbone"}
"""Llama 4 runs every expert on every token itself; the others have none in their tiny form."""


def installed(names: set[str]) -> list[str]:
    return sorted(names & known_classes())


@pytest.mark.parametrize("model_class", installed(FAMILIES))
def test_a_patched_family_is_what_it_was_to_1e_5(model_class: str) -> None:
    model, inputs = subject_of(model_class)
    unpatched = output_of(model, inputs)
    before = models.Fingerprint(model)
    with trace_patches(model, inputs, ONLY) as applied:
        patched = output_of(model, inputs)
    assert applied == ("experts",)
    assert list(patched) == list(unpatched)
    for path, value in unpatched.items():
        torch.testing.assert_close(patched[path], value, atol=1e-5, rtol=1e-5)
    # What the routers of Switch and NLLB-MoE note of a forward is theirs.
    changed = [path for path in before.differs(model) if "input_dtype" not in path]
    assert [path for path in changed if "expert_capacity" not in path] == []


# Ernie's router turns autocast off, which knows no meta device.
@pytest.mark.parametrize("model_class", installed(FAMILIES - {"Ernie4_5_MoeModel"}))
def test_no_shape_of_a_patched_block_depends_on_values(model_class: str) -> None:
    # Tensors of the meta device have shapes and no values: what needs a value fails.
    model, inputs = subject_of(model_class)
    calls: list[tuple[nn.Module, Any, Any]] = []
    blocks = [block for block in EXPERTS.find(model) if has_forward(block)]
    hooks = [
        block.register_forward_pre_hook(
            lambda *call: calls.append(call),  # type: ignore[arg-type]
            with_kwargs=True,
        )
        for block in blocks
    ]
    output_of(model, inputs)
    for hook in hooks:
        hook.remove()
    assert {id(block) for block, _, _ in calls} == {id(block) for block in blocks}
    expected = [shapes_of(block, args, kwargs) for block, args, kwargs in calls]
    with trace_patches(model.to("meta"), inputs, ONLY):
        found = [shapes_of(*on_meta(call)) for call in calls]
    assert found == expected


@pytest.mark.parametrize("model_class", installed(DENSE))
def test_a_model_without_such_a_loop_is_left_alone(model_class: str) -> None:
    with trace_patches(*subject_of(model_class), ONLY) as applied:
        assert applied == ()


def test_a_mixture_is_the_weighted_sum_of_each_tokens_experts() -> None:
    block, tokens = mixtral_block(), torch.randn(2, 5, 8)
    expected = torch.stack([by_definition(block, token) for token in tokens.reshape(-1, 8)])
    with torch.no_grad(), trace_patches(block, {}, ONLY) as applied:
        found = first(block(tokens))
    assert applied == ("experts",)
    torch.testing.assert_close(found.reshape(-1, 8), expected)


def test_an_expert_without_a_token_adds_nothing_even_where_it_overflows() -> None:
    block = mixtral_block()
    with torch.no_grad():
        for name, parameter in block.named_parameters():
            if "gate_up" in name or "down_proj" in name:
                parameter[3] = torch.inf
            elif name.startswith("experts.3."):
                parameter.fill_(torch.inf)
        # All tokens go to the first two of four experts.
        block.gate.weight.copy_(torch.tensor([4.0, 3.0, 1.0, 0.0])[:, None].expand(4, 8))
    tokens = torch.rand(1, 6, 8) + 0.1
    with torch.no_grad():
        expected = first(block(tokens))
        with trace_patches(block, {}, ONLY):
            found = first(block(tokens))
    assert expected.isfinite().all()
    torch.testing.assert_close(found, expected)


def test_nested_traces_of_a_mixture_are_the_same() -> None:
    block, tokens = mixtral_block(), torch.randn(1, 5, 8)
    with torch.no_grad(), trace_patches(block, {}, ONLY):
        once = first(block(tokens))
        with trace_patches(block, {}, ONLY):
            twice = first(block(tokens))
    assert torch.equal(once, twice)


def test_qwen3_omnis_mixtures_are_patched_where_they_stand() -> None:
    # No auto mapping has its thinker and talker; their blocks are loops like the others.
    omni = pytest.importorskip("transformers.models.qwen3_omni_moe.modeling_qwen3_omni_moe")
    config = omni.Qwen3OmniMoeTalkerTextConfig(
        hidden_size=8,
        moe_intermediate_size=6,
        shared_expert_intermediate_size=6,
        num_experts=4,
        num_experts_per_tok=2,
    )
    block = randomised(omni.Qwen3OmniMoeTalkerTextSparseMoeBlock(config))
    tokens = torch.randn(2, 5, 8)
    with torch.no_grad():
        expected = first(block(tokens))
        with trace_patches(block, {}, ONLY) as applied:
            found = first(block(tokens))
    assert applied == ("experts",)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_transformers_5_uses_its_own_batched_experts(monkeypatch: pytest.MonkeyPatch) -> None:
    moe = pytest.importorskip("transformers.integrations.moe")
    calls: list[str] = []

    def batched(module: nn.Module, hidden_states: torch.Tensor, *_: Any) -> torch.Tensor:
        calls.append(type(module).__name__)
        return hidden_states

    monkeypatch.setitem(moe.ALL_EXPERTS_FUNCTIONS._global_mapping, "batched_mm", batched)
    block = mixtral_block()
    with trace_patches(block, {}, ONLY):
        block(torch.randn(1, 5, 8))
    assert calls == ["MixtralExperts"]


def test_the_patch_says_how_exact_it_is() -> None:
    assert PATCHES["experts"].tolerance == 1e-5


@functools.cache
def built(model_class: str) -> Subject:
    return normalise(build(model_class))


def subject_of(model_class: str) -> tuple[nn.Module, dict[str, Any]]:
    """A model of its own, since tests change them, and its inputs."""
    subject = built(model_class)
    return copy.deepcopy(subject.model), subject.inputs.traced()


def output_of(model: nn.Module, inputs: dict[str, Any]) -> dict[str, torch.Tensor]:
    return tensor_leaves(run_once(lambda own: model(**own), inputs, 0).output)


def has_forward(block: nn.Module) -> bool:
    """JetMoe's mixture of attention heads has two methods instead."""
    return not hasattr(block, "reduce")


def shapes_of(block: nn.Module, args: Any, kwargs: Any) -> list[tuple[int, ...]]:
    with torch.no_grad():
        return [tuple(leaf.shape) for leaf in leaves(block(*args, **kwargs))]


def on_meta(call: tuple[nn.Module, Any, Any]) -> tuple[nn.Module, Any, Any]:
    block, args, kwargs = call
    moved: Callable[[Any], Any] = lambda x: x.to("meta") if isinstance(x, torch.Tensor) else x  # noqa: E731
    return block, [moved(arg) for arg in args], {name: moved(x) for name, x in kwargs.items()}


def leaves(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from leaves(part)


def first(output: Any) -> torch.Tensor:
    """The states of a mixture that may return the router's logits beside them."""
    found: torch.Tensor = output[0] if isinstance(output, tuple) else output
    return found


def mixtral_block() -> Any:
    config = MixtralConfig(
        hidden_size=8, intermediate_size=6, num_local_experts=4, num_experts_per_tok=2
    )
    return randomised(modeling_mixtral.MixtralSparseMoeBlock(config))


def randomised(block: nn.Module) -> Any:
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in block.parameters():
            parameter.copy_(torch.randn_like(parameter))
    return block.eval()


def by_definition(block: Any, token: torch.Tensor) -> torch.Tensor:
    """Equations 1 to 3 of the Mixtral paper (arXiv:2401.04088): SwiGLU experts, top 2, softmax."""
    with torch.no_grad():
        logits = block.gate.weight @ token
        best = sorted(range(4), key=lambda expert: -logits[expert].item())[:2]
        weights = torch.softmax(logits[best], dim=0)
        outputs = [swiglu(*expert_weights(block, expert), token) for expert in best]
    return sum((w * out for w, out in zip(weights, outputs, strict=True)), torch.zeros(8))


def expert_weights(block: Any, expert: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gate, up and down; transformers 5 keeps those of all experts together."""
    if hasattr(block.experts, "gate_up_proj"):
        gate, up = block.experts.gate_up_proj[expert].chunk(2)
        return gate, up, block.experts.down_proj[expert]
    layer = block.experts[expert]
    return layer.w1.weight, layer.w3.weight, layer.w2.weight


def swiglu(
    gate: torch.Tensor, up: torch.Tensor, down: torch.Tensor, token: torch.Tensor
) -> torch.Tensor:
    opened = gate @ token
    return down @ (opened * torch.sigmoid(opened) * (up @ token))
