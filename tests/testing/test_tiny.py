"""Tiny models: the rules that shrink configurations, the weights, and every class as a whole."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any, cast

import pytest
import torch
from torch import nn
from transformers import (
    BertConfig,
    BertModel,
    CLIPConfig,
    GPT2Config,
    LlamaConfig,
    PretrainedConfig,
    Qwen2Config,
)

from testing import auto_classes, released
from testing.tiny import (
    ConfigDefaultsError,
    ImpossibleModelError,
    MissingPackageError,
    NotAModelClassError,
    NoTinyModelError,
    UnknownModelClassError,
    build,
    builder,
)
from testing.tiny.configs import VOCABULARY, shrink, tiny_config
from testing.tiny.examination import examine
from testing.tiny.exceptions import (
    CHANGES,
    IMPOSSIBLE,
    INFINITE,
    INPUTS,
    LARGE,
    OMITTED,
    UNUSED,
    Change,
)
from testing.tiny.rules import input_domains
from testing.tiny.weights import calibrate, scatter
from tests.swept import sampled_classes


class TestShrunkConfigurations:
    def test_widths_shrink_by_one_factor_so_that_heads_still_divide_them(self) -> None:
        small = shrink(BertConfig())
        assert small["hidden_size"] == 768 / 8
        assert small["intermediate_size"] == 3072 / 8
        assert small["hidden_size"] % small["num_attention_heads"] == 0

    def test_a_head_stays_the_width_over_the_heads(self) -> None:
        small = shrink(LlamaConfig())
        assert small["head_dim"] * small["num_attention_heads"] == small["hidden_size"]

    def test_shared_key_heads_stay_shared(self) -> None:
        small = shrink(LlamaConfig(num_attention_heads=32, num_key_value_heads=8))
        assert small["num_attention_heads"] % small["num_key_value_heads"] == 0

    def test_every_layer_type_is_kept(self) -> None:
        types = ["full_attention"] * 5 + ["sliding_attention"] * 3
        config = Qwen2Config(num_hidden_layers=8, layer_types=types)
        small = shrink(config)
        assert small["layer_types"] == ["full_attention", "sliding_attention"]
        assert small["num_hidden_layers"] == 2

    def test_ids_beyond_the_vocabulary_move_into_it_and_equal_ones_stay_equal(self) -> None:
        small = shrink(GPT2Config(bos_token_id=50255, eos_token_id=50256, pad_token_id=50256))
        assert small["vocab_size"] == VOCABULARY
        config = GPT2Config(**small)
        assert config.bos_token_id < VOCABULARY
        assert config.bos_token_id != config.eos_token_id < VOCABULARY

    def test_nested_configurations_shrink_by_the_same_factor(self) -> None:
        small = shrink(CLIPConfig())
        assert small["projection_dim"] == small["text_config"]["projection_dim"] == 512 / 8
        assert small["vision_config"]["hidden_size"] == 768 / 8
        assert small["vision_config"]["image_size"] == 64

    def test_a_flag_stays_as_transformers_has_it(self) -> None:
        assert shrink(BertConfig())["use_cache"] is True
        assert shrink(BertConfig(use_cache=False))["use_cache"] is False

    def test_changes_reach_nested_configurations(self) -> None:
        config = tiny_config(CLIPConfig, {}, {"vision_config": {"patch_size": 16}})
        assert config.vision_config.patch_size == 16
        assert config.vision_config.hidden_size == 96


class TestWeights:
    def test_what_is_constant_gets_noise(self) -> None:
        layer = nn.LayerNorm(64)
        scatter(layer, seed=0)
        assert layer.weight.std() > 0.1
        assert layer.bias.std() > 0.1

    def test_a_layer_scale_of_a_millionth_no_longer_hides_its_branch(self) -> None:
        module = nn.Module()
        module.scale = nn.Parameter(torch.full((64,), 1e-6))
        scatter(module, seed=0)
        assert module.scale.mean() > 0.3

    def test_a_linear_layer_keeps_the_variance_of_its_input(self) -> None:
        torch.manual_seed(0)
        layer = nn.Linear(400, 400, bias=False)
        nn.init.normal_(layer.weight, std=0.02)
        scatter(layer, seed=0)
        assert float(layer(torch.randn(50, 400)).detach().std()) == pytest.approx(1, rel=0.1)

    def test_weights_drawn_almost_at_zero_are_rescaled_as_any_others(self) -> None:
        """BLIP's vision model draws with a deviation of 1e-10."""
        layer = nn.Linear(400, 400, bias=False)
        nn.init.normal_(layer.weight, std=1e-10)
        scatter(layer, seed=0)
        assert float(layer.weight.detach().mean()) == pytest.approx(0, abs=1e-3)
        assert float(layer.weight.detach().std()) == pytest.approx(0.05, rel=0.1)

    def test_tables_that_are_not_trained_stay(self) -> None:
        table = nn.Embedding(10, 4)
        table.weight.requires_grad_(False)
        before = table.weight.clone()
        scatter(table, seed=0)
        assert torch.equal(table.weight, before)

    def test_a_batch_norm_takes_the_statistics_of_its_input(self) -> None:
        torch.manual_seed(0)
        model = nn.Sequential(nn.BatchNorm1d(8)).eval()
        images = torch.randn(64, 8) * 100
        calibrate(model, {"input": images})
        assert float(model(images).detach().std()) == pytest.approx(1, rel=0.2)


class TestBuild:
    def test_importing_it_imports_neither_torch_nor_transformers(self) -> None:
        code = "import sys, testing.tiny;assert not {'torch', 'transformers'} & set(sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

    def test_one_seed_gives_one_model(self) -> None:
        first, second = build("BertModel").model, build("BertModel").model
        assert all(map(torch.equal, first.state_dict().values(), second.state_dict().values()))

    def test_another_seed_gives_another_model(self) -> None:
        first, second = build("BertModel").model, build("BertModel", seed=1).model
        assert not torch.equal(next(first.parameters()), next(second.parameters()))

    def test_building_leaves_the_random_state_alone(self) -> None:
        torch.manual_seed(5)
        state = torch.get_rng_state()
        build("BertModel")
        assert torch.equal(torch.get_rng_state(), state)

    def test_the_model_is_not_tamed(self) -> None:
        subject = build("GPT2LMHeadModel")
        defaults = GPT2Config()
        config: Any = subject.model.config
        flags = ("use_cache", "output_attentions", "output_hidden_states", "return_dict")
        assert [getattr(config, f) for f in flags] == [getattr(defaults, f) for f in flags]
        assert config._attn_implementation == "sdpa"
        assert subject.exceptions == ()

    def test_a_change_that_tames_is_declared_with_the_subject(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        change = Change("use_cache=False: a reason", {"use_cache": False}, tames=True)
        monkeypatch.setitem(cast("dict[str, Any]", CHANGES), "BertModel", (change,))
        assert build("BertModel").exceptions == ("use_cache=False: a reason",)

    def test_a_model_that_would_compile_itself_elsewhere_does_not_on_the_host(self) -> None:
        """ModernBERT before transformers 5: torch.compile in its forward on other devices."""
        subject = build("ModernBertModel")
        subject.model(**subject.inputs.traced())
        assert subject.exceptions == ()
        assert not getattr(subject.model.config, "reference_compile", False)

    def test_an_unknown_class_is_an_error_that_names_the_nearest(self) -> None:
        with pytest.raises(UnknownModelClassError, match="'BertModle'; nearest: BertModel"):
            build("BertModle")

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("AutoModel", "stands for whichever class a configuration"),
            ("AutoModelForMaskedLM", "stands for whichever class a configuration"),
            ("BertLayer", "has no config_class"),
            ("PreTrainedModel", "has no config_class"),
        ],
    )
    def test_what_is_no_model_class_is_an_error_that_says_why(self, name: str, why: str) -> None:
        with pytest.raises(NotAModelClassError, match=f"{name} is no model class .*: it {why}"):
            build(name)

    def test_a_missing_package_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class NeedsTimm:
            _backends = ("timm",)

        monkeypatch.setattr("transformers.TimmBackbone", NeedsTimm)
        with pytest.raises(MissingPackageError, match="TimmBackbone .* not installed: timm"):
            build("TimmBackbone")

    def test_a_package_that_only_the_constructor_needs_is_named_too(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class NeedsScipy(BertModel):
            def __init__(self, config: Any) -> None:
                raise ImportError("requires scipy")

        monkeypatch.setattr(builder, "load_class", lambda name: NeedsScipy)
        with pytest.raises(MissingPackageError, match="requires scipy"):
            build("NeedsScipy")

    def test_a_package_that_only_the_configuration_needs_is_named_too(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class NeedsTimmConfig(PretrainedConfig):
            def __init__(self, **values: Any) -> None:
                raise ImportError("requires timm")

        class NeedsTimm(BertModel):
            config_class = NeedsTimmConfig

        monkeypatch.setattr(builder, "load_class", lambda name: NeedsTimm)
        with pytest.raises(MissingPackageError, match="requires timm"):
            build("NeedsTimm")

    def test_a_configuration_without_defaults_is_named(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class NeedsBackboneConfig(PretrainedConfig):
            def __init__(self, backbone: str, **values: Any) -> None:
                super().__init__(**values)

        class NeedsBackbone(BertModel):
            config_class = NeedsBackboneConfig

        monkeypatch.setattr(builder, "load_class", lambda name: NeedsBackbone)
        with pytest.raises(ConfigDefaultsError, match=r"NeedsBackboneConfig\(\) .*'backbone'"):
            build("NeedsBackbone")

    def test_a_required_input_without_a_rule_is_named(self) -> None:
        class Odd(nn.Module):
            config = BertConfig()

            def forward(self, odd_input: torch.Tensor) -> None: ...

        with pytest.raises(NoTinyModelError, match="Odd requires odd_input"):
            input_domains(Odd())


class TestDeclaredExceptions:
    @pytest.mark.parametrize(
        "table",
        [CHANGES, OMITTED, UNUSED, INPUTS, INFINITE, LARGE, IMPOSSIBLE],
        ids=["changes", "omitted", "unused", "inputs", "infinite", "large", "impossible"],
    )
    def test_each_names_a_model_type_or_class_of_a_supported_transformers(
        self, table: Mapping[str, Any]
    ) -> None:
        unlisted = set(table) - released.classes() - released.model_types()
        # A class need not be in the auto mappings: MoshiForConditionalGeneration is not.
        assert not [name for name in unlisted if auto_classes.module_of(name) is None]

    def test_each_change_says_why(self) -> None:
        assert all(change.why for changes in CHANGES.values() for change in changes)


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled_classes())
def test_a_tiny_model_has_no_problem(name: str) -> None:
    """Size, time, finite outputs, every input seen; `export-harness coverage` asks it of all."""
    try:
        subject = build(name)
    except (ImpossibleModelError, MissingPackageError) as error:
        pytest.skip(str(error))
    assert examine(subject).problems == ()
