from __future__ import annotations

import torch
from torch import nn

from testing.pipeline.trials import Kind, changed_leaves, other_weights, plan, run_once
from tests.testing.doubles import MadeInputs, normal


def test_static_plan_takes_the_trace_every_family_and_other_weights():
    trials = plan(MadeInputs(normal(3), ("noise", "ramp")), dynamic=False)
    assert [trial.kind for trial in trials] == [
        Kind.TRACED,
        Kind.REPEATED,
        Kind.FRESH,
        Kind.FRESH,
        Kind.WEIGHTS,
    ]
    assert [trial.label for trial in trials if trial.kind is Kind.FRESH] == [
        "fresh inputs `noise`",
        "fresh inputs `ramp`",
    ]


def test_dynamic_plan_adds_a_part_a_multiple_and_a_padded_rest_of_the_batch():
    trials = plan(MadeInputs(normal(3), batch_size=3), dynamic=True)
    sizes = [trial for trial in trials if trial.kind is Kind.SIZE]
    assert [trial.batch_size for trial in sizes] == [1, 6, 7]
    assert [trial.inputs["x"].shape[0] for trial in sizes] == [1, 6, 7]


class Odd(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("fill", torch.tensor([torch.finfo(torch.float32).min, -torch.inf]))
        self.register_buffer("variance", torch.ones(4))
        self.register_buffer("ids", torch.arange(4))
        self.register_buffer("repeated", torch.ones(1, 4).expand(3, 4))


def test_other_weights_differ_and_keep_ties_signs_integers_and_the_model():
    model = Odd()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    twin = other_weights(model)
    assert twin.head.weight is twin.embed.weight
    ratio = twin.embed.weight.detach() / model.embed.weight.detach()
    assert bool(((ratio >= 0.8 - 1e-6) & (ratio <= 1 + 1e-6)).all())
    assert float(ratio.std()) > 0.01
    assert bool((twin.variance > 0).all())
    assert twin.fill[0].isfinite()
    assert twin.fill[1] == -torch.inf
    assert torch.equal(twin.ids, model.ids)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_other_weights_are_not_zero_where_a_whole_parameter_was():
    model = nn.Linear(4, 8)
    nn.init.zeros_(model.bias)
    model.weight.data[0] = 0
    model.register_buffer("mask", torch.zeros(4))
    twin = other_weights(model)
    assert 0 < float(twin.bias.detach().abs().max()) <= 0.02
    assert len(twin.bias.unique()) == 8
    assert not twin.weight[0].any()
    assert not twin.mask.any()
    assert not model.bias.any()


def test_run_leaves_its_inputs_alone_and_tells_what_the_call_changed_b27():
    inputs = {"x": torch.zeros(3), "cache": [torch.zeros(1)], "flag": True}

    def call(given):
        given["x"].add_(1)
        given["cache"].append(given["x"])
        return given["x"]

    run = run_once(call, inputs, seed=0)
    assert run.mutated == ("x", "cache.1")
    assert inputs["x"].tolist() == [0, 0, 0]
    assert len(inputs["cache"]) == 1


def test_same_seed_gives_the_same_noise_and_no_gradient():
    def call(given):
        return given["x"] * torch.rand(3)

    inputs = {"x": torch.ones(3, requires_grad=True)}
    one, same, other = (run_once(call, inputs, seed).output for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert not one.requires_grad


def test_nan_at_one_place_is_no_change():
    nan = torch.tensor([1.0, torch.nan])
    assert changed_leaves({"x": nan}, {"x": nan.clone()}) == ()
    assert changed_leaves({"x": nan}, {"x": nan.flip(0)}) == ("x",)
    assert changed_leaves({"x": nan}, {"x": nan.double()}) == ("x",)
