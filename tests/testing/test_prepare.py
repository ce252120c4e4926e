from __future__ import annotations

import os
import random

import numpy
import pytest
import torch
from torch import nn
from transformers import BertConfig, BertModel, CLIPConfig, CLIPModel

from testing.pipeline.prepare import CleanInputs, copy_inputs, normalise
from testing.seeds import set_seed
from testing.subject import Subject
from tests.testing.doubles import MadeInputs

TINY = {
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
}


def tiny_bert(**values) -> BertModel:
    return BertModel(BertConfig(**TINY, vocab_size=11, **values))


def tokens(generator, family, batch):
    ids = torch.randint(0, 11, (batch, 4), generator=generator)
    return {
        "input_ids": ids,
        "labels": ids,
        "return_loss": True,
        "future_values": ids,
        "position_ids": None,
        "attention_mask": torch.ones(batch, 4, dtype=torch.bool),
        "nested": {"bias": torch.zeros(2, dtype=torch.float64)},
    }


def cleaned(model: nn.Module) -> dict:
    return CleanInputs(MadeInputs(tokens), model).traced()


def test_inputs_of_training_and_none_are_dropped():
    assert set(cleaned(tiny_bert())) == {"input_ids", "attention_mask", "nested"}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_floating_leaves_take_the_models_dtype_and_no_others_b15(dtype):
    inputs = cleaned(tiny_bert().to(dtype))
    assert inputs["nested"]["bias"].dtype is dtype
    assert inputs["attention_mask"].dtype is torch.bool
    assert inputs["input_ids"].dtype is torch.int64


def test_model_without_floating_tensors_leaves_dtypes_alone():
    assert cleaned(nn.Identity())["nested"]["bias"].dtype is torch.float64


def test_every_set_is_a_copy_of_its_own():
    kept = {"x": torch.zeros(2, 3)}
    inputs = CleanInputs(MadeInputs(lambda generator, family, batch: kept), nn.Identity())
    inputs.traced()["x"].add_(1)
    inputs.fresh("noise")["x"].add_(1)
    assert torch.equal(kept["x"], torch.zeros(2, 3))


def test_copies_share_nothing_and_keep_shared_tensors_shared():
    x = torch.ones(2, requires_grad=True)
    copied = copy_inputs({"a": x * 1, "b": [x, x]})
    copied["b"][0].zero_()
    assert x.tolist() == [1, 1]
    assert copied["b"][0] is copied["b"][1]
    assert not copied["a"].requires_grad


def test_seed_covers_every_generator():
    def draw():
        set_seed(3)
        return random.random(), numpy.random.rand(), float(torch.rand(()))

    assert draw() == draw()


def test_model_of_transformers_is_steadied_and_not_tamed():
    model = tiny_bert().train()
    subject = normalise(Subject(model, MadeInputs(tokens), ("a flag",)))
    assert not subject.model.training
    assert subject.exceptions == ("a flag",)
    # What transformers' set_config_for_less_flaky_test and set_model_… set.
    assert model.config.layer_norm_eps == 1.0
    norms = [module for module in model.modules() if isinstance(module, nn.LayerNorm)]
    assert norms
    assert all(norm.eps == 1.0 for norm in norms)
    default = BertConfig()
    for flag in ("use_cache", "_attn_implementation", "output_attentions", "return_dict"):
        assert getattr(model.config, flag) == getattr(tiny_bert().config, flag)
    assert model.config.use_cache == default.use_cache
    assert os.environ["USE_HUB_KERNELS"] == "NO"


def test_nested_configurations_and_losses_are_prepared():
    vision = {**TINY, "image_size": 4, "patch_size": 2, "projection_dim": 4}
    text = {**TINY, "vocab_size": 11, "projection_dim": 4}
    model = CLIPModel(CLIPConfig(text, vision, projection_dim=4))
    model.config.return_loss = True
    model.config.decoder = None  # a part that is absent must not end it
    normalise(Subject(model, MadeInputs(tokens)))
    assert model.config.return_loss is False
    assert model.config.vision_config.layer_norm_eps == 1.0


def test_plain_module_keeps_its_epsilons():
    norm = nn.LayerNorm(3)
    normalise(Subject(norm, MadeInputs(tokens)))
    assert norm.eps == 1e-5


def test_model_that_runs_kernels_of_the_hub_is_refused():
    model = tiny_bert()
    model._use_kernels = True
    with pytest.raises(ValueError, match="BertModel was built with kernels of the hub"):
        normalise(Subject(model, MadeInputs(tokens)))
