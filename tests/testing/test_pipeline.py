from __future__ import annotations

import dataclasses
import math
import unittest
from collections import OrderedDict
from importlib import metadata
from typing import Any

import pytest
import torch
from torch import nn

from exporters.base import BackendIncompatibleError, BackendUnavailableError, ExportError
from testing.cases import ExportCase
from testing.pipeline import STAGES, run
from testing.registry import Entry, Registry
from testing.registry.entries import Skip
from testing.registry.skip_file import EXPORT_SKIPS
from testing.results import CaseResult, Outcome
from testing.scopes import Scope
from testing.terms import terms_for
from tests.testing.doubles import (
    EagerDouble,
    MadeInputs,
    TracingDouble,
    normal,
    request_for,
    run_double,
)


class Heads(nn.Module):
    """Three leaves of different shapes, and one that is None."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 5)
        for parameter in self.parameters():
            parameter.data = _table(*parameter.shape)

    def forward(self, x):
        hidden = self.linear(x)
        return {"logits": hidden, "twin": hidden * 2, "pooled": hidden.sum(-1), "loss": None}


class Function(nn.Module):
    """A module around a function, with a parameter so that it has other weights."""

    def __init__(self, function) -> None:
        super().__init__()
        self.function = function
        self.scale = nn.Parameter(torch.tensor(1.5))

    def forward(self, **inputs):
        return self.function(**inputs)


def heads(backend, **values) -> CaseResult:
    return run_double(Heads(), MadeInputs(normal(3, 4)), backend, **values)


def function(body, inputs, backend=None, **values) -> CaseResult:
    return run_double(Function(body), inputs, backend or EagerDouble(), **values)


# What a result holds


def test_right_export_passes_and_the_result_tells_all_stages():
    begun: list[str] = []
    double = EagerDouble()
    result = heads(double, on_stage=begun.append)
    assert (result.outcome, result.message, result.stage) == (Outcome.PASSED, None, "compare")
    assert begun == list(STAGES) == list(result.seconds)
    assert set(result.metrics) == {"logits", "twin", "pooled"}
    assert result.metrics["logits"].max_abs == 0.0
    assert result.patches == ["a-patch"]
    assert result.peak_rss_mb > 1
    assert result.versions["torch"] == metadata.version("torch")
    assert "no-such-distribution" not in result.versions
    assert len(double.seen) == 1
    assert CaseResult.from_json(result.to_json()) == result


def test_options_reach_the_backend():
    double = EagerDouble()
    heads(double, guard=False, dynamic=True)
    assert (double.seen[0].guard, double.seen[0].dynamic) == (False, True)
    assert "weight-norm" in double.seen[0].patches


def test_program_that_cannot_run_here_is_exported_and_not_passed():
    result = heads(EagerDouble(runnable=False))
    assert (result.outcome, result.stage) == (Outcome.EXPORTED, "export")


@pytest.mark.parametrize("error", [None, ValueError("does not trace")])
def test_changed_flags_of_the_model_are_told_whatever_the_outcome(error):
    flags = ("use_cache off: the cache is not exportable",)
    result = heads(EagerDouble(error=error), exceptions=flags)
    assert result.outcome is (Outcome.FAILED if error else Outcome.PASSED)
    note = "Note: not as transformers has it: use_cache off: the cache is not exportable."
    assert note in result.message.splitlines()


# Wrong output


def _perturb(output):
    output["logits"][1, 2, 3] += 1e-3
    return output


def _replace(**leaves):
    return lambda output: {**output, **{k: f(output) for k, f in leaves.items()}}


def _with_nan(output):
    output["pooled"][0, 1] = math.nan
    return output


WRONG = {
    "perturbs": (_perturb, "`logits` differs at [1, 2, 3]"),
    "drops": (lambda o: {k: v for k, v in o.items() if k != "twin"}, "`twin` is missing"),
    "adds": (_replace(extra=lambda o: o["logits"]), "`extra` is no leaf of eager"),
    "renames": (
        lambda o: {("other" if k == "twin" else k): v for k, v in o.items()},
        "it holds what `twin` should",
    ),
    "reshapes": (_replace(logits=lambda o: o["logits"].mT), "shape (2, 5, 3)"),
    "broadcasts": (_replace(logits=lambda o: o["logits"][:1]), "shape (1, 3, 5)"),
    "swaps": (
        _replace(logits=lambda o: o["twin"], twin=lambda o: o["logits"]),
        "`logits` holds what `twin` should",
    ),
    "retypes": (_replace(logits=lambda o: o["logits"].double()), "dtype float64"),
    "adds a tensor for None": (_replace(loss=lambda o: o["pooled"]), "where eager has None"),
    "adds NaN": (_with_nan, "`pooled` differs at [0, 1]"),
    "returns nothing": (lambda o: (), "`logits` is missing"),
}


@pytest.mark.parametrize(("edit", "told"), WRONG.values(), ids=WRONG)
def test_wrong_output_fails_and_is_named(edit, told):
    result = heads(EagerDouble(edit=edit))
    assert (result.outcome, result.stage) == (Outcome.FAILED, "compare")
    assert told in result.message


def test_perturbed_element_is_told_with_its_figures():
    result = heads(EagerDouble(edit=_perturb))
    assert "1 of 30 elements; max abs 0.001" in result.message
    assert result.metrics["logits"].max_abs == pytest.approx(1e-3, rel=1e-2)
    assert result.metrics["twin"].max_abs == 0.0


def test_second_call_that_fails_as_the_first_is_not_told_twice():
    result = heads(EagerDouble(edit=_perturb))
    assert result.message.count("On the traced inputs:") == 1
    assert "second call" not in result.message


def test_exactness_entry_records_figures_that_cannot_fail():
    result = heads(EagerDouble(edit=_perturb), exactness_reason="sums in another order")
    assert result.outcome is Outcome.PASSED
    assert result.metrics["logits"].max_abs == pytest.approx(1e-3, rel=1e-2)
    assert "Figures cannot fail it (sums in another order)." in result.message


def test_exactness_entry_does_not_excuse_a_missing_leaf():
    result = heads(EagerDouble(edit=WRONG["drops"][0]), exactness_reason="drifts")
    assert result.outcome is Outcome.FAILED


# Values baked in, fresh inputs


def _scaled_by_mean(x):
    return x * x.mean().item()


def _branches_on_mask(x, mask):
    return x if mask.all() else x - 2 * mask[..., None]


def _masked(generator, family, batch):
    mask = torch.ones(batch, 3, dtype=torch.int64)
    if family != "unpadded":
        mask[:, 2] = 0
    return {"x": torch.randn(batch, 3, 4, generator=generator), "mask": mask}


BAKED = {
    "item": (_scaled_by_mean, MadeInputs(normal(3, 4)), "noise"),
    "branch": (_branches_on_mask, MadeInputs(_masked, ("padded", "unpadded")), "unpadded"),
}


@pytest.mark.parametrize("name", BAKED)
def test_baked_value_passes_on_traced_and_fails_on_fresh_inputs(name):
    body, inputs, family = BAKED[name]

    class Baking(nn.Module):
        def forward(self, **kwargs):
            return body(**kwargs)

    result = run_double(Baking(), inputs, TracingDouble())
    assert result.outcome is Outcome.FAILED
    assert result.message.startswith("Agrees with eager on the traced inputs and not on fresh")
    assert f"On fresh inputs `{family}`" in result.message
    assert "On the traced inputs" not in result.message
    assert len(result.baked_reads) == 1
    assert result.baked_reads[0].startswith("aten::_local_scalar_dense of x at test_pipeline.py:")
    assert result.baked_reads[0] in result.message


def test_read_that_does_not_matter_does_not_fail():
    def body(x):
        return x * 2 if x.sum().item() < 1e9 else x

    result = function(body, MadeInputs(normal(4)), TracingDouble())
    assert result.outcome is Outcome.PASSED
    assert len(result.baked_reads) == 1


@pytest.mark.parametrize("family", ["extremes", "constant"])
def test_fault_that_one_family_reaches_is_told_with_it_b28(family):
    def make(generator, name, batch):
        x = torch.randn(batch, 4, generator=generator).clamp(-2.9, 2.9)
        changed = {"extremes": x * 3, "constant": torch.full((batch, 4), 1.25)}
        return {"x": changed.get(name, x)}

    def edit_call(inputs):
        x = inputs["x"]
        wrong = (x.abs() > 3) | (x.roll(1, 1) == x)
        return {"x": torch.where(wrong, x + 10, x)}

    families = ("noise", family)
    result = function(
        lambda x: x * 1, MadeInputs(make, families), EagerDouble(edit_call=edit_call)
    )
    assert result.outcome is Outcome.FAILED
    assert f"On fresh inputs `{family}`" in result.message
    assert "`noise`" not in result.message


def test_leaves_that_cannot_differ_are_listed():
    inputs = MadeInputs(normal(4))
    inputs.unchanged = {"x": "one value is valid"}
    result = function(lambda x: x * 2, inputs)
    assert "the same in all inputs: `x` (one value is valid)" in result.message


def _two(generator, family, batch):
    shape = (batch, 10)
    return {name: torch.randn(*shape, generator=generator) for name in ("x", "y")}


def test_swapped_arguments_of_one_shape_fail_b12():
    def swap(inputs):
        return {"x": inputs["y"], "y": inputs["x"]}

    result = function(
        lambda x, y: x.sin() + y.cos(), MadeInputs(_two), EagerDouble(edit_call=swap)
    )
    assert result.outcome is Outcome.FAILED


class Flagged(nn.Module):
    def forward(self, x1, x2, flag=True, bias=None, types=None):
        hidden = x1 - 2 * x2 if flag else x2 - x1
        hidden = hidden if bias is None else hidden + bias
        return hidden if types is None else hidden * types


def _flagged(generator, family, batch):
    x1, x2, types = torch.randn(3, batch, 4, generator=generator)
    return {"flag": False, "types": types, "x2": x2, "bias": None, "x1": x1}


def test_keyword_order_flags_and_holes_survive_b23():
    assert run_double(Flagged(), MadeInputs(_flagged), EagerDouble()).outcome is Outcome.PASSED


def test_binding_by_position_is_a_mismatch_b23():
    def by_position(inputs):
        tensors = [value for value in inputs.values() if isinstance(value, torch.Tensor)]
        return {**dict(zip(["x1", "x2", "types"], tensors, strict=True)), "flag": inputs["flag"]}

    result = run_double(Flagged(), MadeInputs(_flagged), EagerDouble(edit_call=by_position))
    assert result.outcome is Outcome.FAILED


# Weights


def test_stale_weights_fail_and_are_called_so_b04():
    result = heads(EagerDouble(weights="ignore"))
    assert result.outcome is Outcome.FAILED
    assert result.message.startswith("Stale weights")
    assert "On other weights: `logits` differs" in result.message
    assert result.metrics["logits"].mismatched > 0.5


def test_inlined_weights_are_noted_and_do_not_fail_b04():
    result = heads(EagerDouble(weights="inline"))
    assert result.outcome is Outcome.PASSED
    assert "weights are inlined" in result.message


def test_weights_that_change_nothing_are_noted():
    result = function(lambda x: x * 2, MadeInputs(normal(4)), EagerDouble(weights="ignore"))
    assert result.outcome is Outcome.PASSED
    assert "other weights change nothing in eager" in result.message


def test_the_model_keeps_its_own_weights():
    model = Heads()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    run_double(model, MadeInputs(normal(3, 4)), EagerDouble())
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])


# Randomness


class Noisy(nn.Module):
    def forward(self, x):
        return x + torch.rand_like(x)


class Adds(nn.Module):
    def __init__(self, noise) -> None:
        super().__init__()
        self.noise = noise

    def forward(self, x):
        return x + self.noise


class _FrozenNoise(EagerDouble):
    """Draws its noise once, under the seed of the trace."""

    def export(self, model, inputs, options):
        return super().export(Adds(torch.rand_like(inputs["x"])), inputs, options)


def test_model_that_draws_noise_is_compared_under_one_seed_and_told_b13():
    result = run_double(Noisy(), MadeInputs(normal(4)), EagerDouble())
    assert result.outcome is Outcome.PASSED
    assert result.message.startswith("Eager draws random numbers; under another seed: `output`")


def test_frozen_noise_fails_and_is_said_in_words_b13():
    result = run_double(Noisy(), MadeInputs(normal(4)), _FrozenNoise())
    assert result.outcome is Outcome.FAILED
    assert "Eager draws random numbers" in result.message
    assert "repeats its noise" in result.message


class Unsteady(nn.Module):
    """Disagrees with itself whatever the seed, as uninitialised memory does."""

    calls = 0

    def forward(self, x):
        self.calls += 1
        return x + 0.25 * self.calls


def test_eager_that_disagrees_with_itself_is_blamed_with_the_figure_b13():
    double = EagerDouble()
    result = run_double(Unsteady(), MadeInputs(normal(4)), double)
    assert (result.outcome, result.stage) == (Outcome.FAILED, "eager")
    assert "Eager disagrees with itself under the same seed" in result.message
    assert "max abs" in result.message
    assert double.seen == []


def test_program_that_keeps_state_between_calls_fails():
    calls = []

    def drift(output):
        calls.append(1)
        return output + (len(calls) == 2)

    result = function(lambda x: x * 2, MadeInputs(normal(4)), EagerDouble(edit=drift))
    assert result.message.startswith("The exported program disagrees with itself on a second")


# Inputs that a side mutates


_WEIGHTLESS = "Note: other weights change nothing in eager; none were tried."


class Eats(nn.Module):
    def forward(self, x, cache):
        x.add_(1)
        cache.append(x)
        return x * 2, torch.stack(cache).sum(0)


def _with_cache(generator, family, batch):
    return {"x": torch.randn(batch, 4, generator=generator), "cache": [torch.ones(batch, 4)]}


def test_each_run_gets_fresh_inputs_b27():
    result = run_double(Eats(), MadeInputs(_with_cache), EagerDouble())
    assert (result.outcome, result.message) == (Outcome.PASSED, _WEIGHTLESS)


def test_mutation_by_one_side_only_is_told_b27():
    def copied(inputs):
        return {"x": inputs["x"].clone(), "cache": list(inputs["cache"])}

    result = run_double(Eats(), MadeInputs(_with_cache), EagerDouble(edit_call=copied))
    assert result.outcome is Outcome.PASSED
    assert "only eager changes its inputs: x, cache.1" in result.message


def test_mutation_by_the_exported_program_only_is_told_b27():
    def spoil(inputs):
        inputs["x"].zero_()
        return {"x": inputs["x"].clone()}

    result = function(lambda x: x * 0 + 1, MadeInputs(normal(4)), EagerDouble(edit_call=spoil))
    assert "only the exported program changes its inputs: x" in result.message


# Views


def _in_place(z):
    y = z.view(2, 5)
    z.add_(1)
    return y, z


def _data_in_place(z):
    y = z.view(2, 5)
    z.data += 1
    return y, z


def _data_replaced(z):
    y = z.view(2, 5)
    z.data = z.data + 1
    return y, z


@pytest.mark.parametrize(
    ("body", "total"), [(_in_place, 10), (_data_in_place, 10), (_data_replaced, 0)]
)
def test_view_and_its_base_are_both_compared_b11(body, total):
    assert float(body(torch.zeros(10))[0].sum()) == total
    inputs = MadeInputs(
        lambda generator, family, batch: {"z": torch.randn(10, generator=generator)}
    )
    assert function(body, inputs).outcome is Outcome.PASSED
    result = function(body, inputs, EagerDouble(edit=lambda output: (output[0] + 1, output[1])))
    assert "`0` differs" in result.message
    assert "`1` differs" not in result.message


# Dynamic batch


def _across_batch(x):
    return torch.cat([x.mean(0, keepdim=True), x.amax(0, keepdim=True)])


def test_model_whose_samples_mix_is_not_applicable_with_leaf_and_figure_b01():
    double = EagerDouble(chunks=True)
    inputs = MadeInputs(normal(4))
    result = function(lambda x: {"y": x - x.mean(0)}, inputs, double, dynamic=True)
    assert (result.outcome, result.stage) == (Outcome.NOT_APPLICABLE, "eager")
    assert "batch size 1" in result.message
    assert "`y` differs at [0, " in result.message
    assert result.metrics["y"].max_abs > 0.01
    assert double.seen == []


def test_reduction_over_the_batch_is_not_applicable_and_its_static_case_passes_b01():
    inputs, double = MadeInputs(normal(4)), EagerDouble(chunks=True)
    assert function(_across_batch, inputs, double, dynamic=True).outcome is Outcome.NOT_APPLICABLE
    assert function(_across_batch, inputs, double).outcome is Outcome.PASSED


def test_contrastive_logits_are_not_applicable_by_their_shape():
    inputs = MadeInputs(normal(4))
    result = function(lambda x: x @ x.T, inputs, EagerDouble(chunks=True), dynamic=True)
    assert result.outcome is Outcome.NOT_APPLICABLE


def test_independent_samples_pass_at_every_batch_size():
    assert heads(EagerDouble(chunks=True), dynamic=True).outcome is Outcome.PASSED


def test_program_that_depends_on_the_batch_names_the_failing_sizes_b01():
    def edit(output):
        return output + (output.shape[0] in (1, 5))

    result = function(
        lambda x: x * 2, MadeInputs(normal(4)), EagerDouble(edit=edit, chunks=True), dynamic=True
    )
    assert result.outcome is Outcome.FAILED
    assert "wrong at 1, 5" in result.message
    assert "On batch size 4" not in result.message


def test_other_backends_run_the_other_sizes_without_chunks_b22():
    class Frozen(EagerDouble):
        def __init__(self) -> None:
            super().__init__(edit_call=self.refuse)

        def refuse(self, inputs):
            if inputs["x"].shape[0] != 2:
                raise RuntimeError("expected size 2 on axis 0 of x")
            return inputs

    inputs = MadeInputs(normal(4))
    mixing = function(lambda x: x - x.mean(0), inputs, EagerDouble(), dynamic=True)
    assert mixing.outcome is Outcome.PASSED
    frozen = function(lambda x: x * 2, inputs, Frozen(), dynamic=True)
    assert (frozen.outcome, frozen.stage) == (Outcome.FAILED, "run")
    assert "expected size 2 on axis 0 of x" in frozen.message
    assert "batch size 1" in frozen.message


# Masks


class Encoder(nn.Module):
    """Returns hidden states, and scores whose second axis has the mask's size by chance."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 6, _weight=_table(11, 6))
        self.score = nn.Parameter(_table(6, 5))

    def forward(self, input_ids, attention_mask):
        hidden = self.embed(input_ids) * (1 + attention_mask[..., None])
        weights = attention_mask[..., None].to(hidden)
        pooled = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1)
        return {"hidden": hidden, "scores": pooled @ self.score}


def _table(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(7))


def _tokens(generator, family, batch):
    mask = torch.ones(batch, 5, dtype=torch.int64)
    if family != "unpadded":
        mask[0, :3] = 0
    if family == "empty row":
        mask[-1] = 0
    ids = torch.randint(0, 11, (batch, 5), generator=generator)
    return {"input_ids": ids, "attention_mask": mask}


def _encoder(edit, families=("padded", "unpadded")):
    return run_double(Encoder(), MadeInputs(_tokens, families), EagerDouble(edit=edit))


def _nan_at(leaf, *index):
    def edit(output):
        output[leaf][index] = math.nan
        return output

    return edit


def test_nan_in_padded_positions_is_left_out_and_the_result_says_so_b05():
    # The families are all padded here: an unpadded one compares every position.
    result = _encoder(_nan_at("hidden", 0, slice(3)), ("padded",))
    assert result.outcome is Outcome.PASSED
    assert (
        "`hidden`: positions that the inputs' mask leaves out are not compared" in result.message
    )


def test_nan_in_a_kept_position_of_a_padded_sample_fails_b05():
    result = _encoder(_nan_at("hidden", 0, 3), ("padded",))
    assert "`hidden` differs at [0, 3, 0]" in result.message


def test_axis_of_the_mask_size_that_is_no_sequence_is_compared_in_full():
    result = _encoder(_nan_at("scores", 0, 1), ("padded",))
    assert "`scores` differs at [0, 1]" in result.message


def test_fully_masked_sample_is_compared_in_full_b21():
    result = _encoder(_nan_at("hidden", 1, 0), ("empty row",))
    assert "On fresh inputs `empty row`: `hidden` differs at [1, 0, 0]" in result.message


def test_left_padding_without_positions_is_a_mismatch_b20():
    """A program that counts positions from the left edge, given left-padded prompts."""

    class Positions(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Parameter(_table(8, 6))

        def forward(self, input_ids, attention_mask, position_ids):
            return self.table[position_ids] + input_ids[..., None]

    def make(generator, family, batch):
        tokens = _tokens(generator, family, batch)
        positions = (tokens["attention_mask"].cumsum(1) - 1).clamp(min=0)
        return {**tokens, "position_ids": positions}

    def from_the_edge(inputs):
        ids = inputs["input_ids"]
        return {**inputs, "position_ids": torch.arange(ids.shape[1]).expand_as(ids)}

    inputs = MadeInputs(make, ("padded",))
    assert run_double(Positions(), inputs, EagerDouble()).outcome is Outcome.PASSED
    result = run_double(Positions(), inputs, EagerDouble(edit_call=from_the_edge))
    assert result.outcome is Outcome.FAILED
    assert "`output` differs at [0, " in result.message


# Masks of bools, b15


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(8, 3, _weight=_table(8, 3))

    def forward(self, mask):
        return self.embed((mask.bool().cumsum(1) - 1).clamp(min=0))


def _bool_mask(generator, family, batch):
    mask = torch.rand(batch, 6, generator=generator) > 0.3
    mask[:, 0] = True
    return {"mask": mask}


def test_refused_subtraction_of_bools_is_the_backends_error_at_its_stage_b15():
    error = RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported")
    result = run_double(Counts(), MadeInputs(_bool_mask), EagerDouble(error=error))
    assert (result.outcome, result.stage) == (Outcome.FAILED, "export")
    assert "two bool tensors" in result.message


def test_saturating_cumsum_is_a_mismatch_b15():
    class Saturating(EagerDouble):
        def export(self, model, inputs, options):
            assert inputs["mask"].dtype is torch.bool
            return super().export(Saturated(model.embed), inputs, options)

    class Saturated(nn.Module):
        def __init__(self, embed) -> None:
            super().__init__()
            self.embed = embed

        def forward(self, mask):
            return self.embed((mask.cumsum(1) > 0).long() - 1)

    result = run_double(Counts(), MadeInputs(_bool_mask), Saturating())
    assert (result.outcome, result.stage) == (Outcome.FAILED, "compare")


def test_near_constant_eager_is_reported_as_proving_nothing():
    result = function(lambda x: x * 0 + 0.5, MadeInputs(normal(4)))
    assert result.outcome is Outcome.PASSED
    assert result.message.startswith("Proves nothing")


# Faults


def test_fault_of_prepare_is_a_result():
    def prepare():
        raise ValueError("no tiny model")

    result = run(request_for(Heads()), prepare, lambda stage: None, EagerDouble())
    assert (result.outcome, result.stage) == (Outcome.FAILED, "prepare")
    assert result.message == "ValueError: no tiny model"


def test_fault_of_eager_names_the_models_own_line():
    def body(x):
        return x @ torch.ones(7, 7)

    result = function(body, MadeInputs(normal(4)))
    assert (result.outcome, result.stage) == (Outcome.FAILED, "eager")
    line = body.__code__.co_firstlineno + 1
    # The module's own frame is in this file too; the innermost one is the body's.
    assert result.source == f"test_pipeline.py:{line}"


@pytest.mark.parametrize("stage", ["export", "run"])
def test_refusal_is_an_error_of_the_stage_that_raised_it_b09(stage):
    def refuse(output):
        raise NotImplementedError("nan_to_num with infinite replacements")

    error = NotImplementedError("nan_to_num with infinite replacements")
    double = EagerDouble(error=error) if stage == "export" else EagerDouble(edit=refuse)
    result = heads(double)
    assert (result.outcome, result.stage) == (Outcome.FAILED, stage)


def test_output_that_a_backend_cannot_carry_is_its_own_error_b03():
    class UnsupportedOutputError(ExportError):
        pass

    result = heads(EagerDouble(error=UnsupportedOutputError("output structure: a dict")))
    assert result.message == "UnsupportedOutputError: output structure: a dict"


def test_op_operand_and_source_of_an_error_reach_the_result():
    error = ExportError("aten::im2col reads a placeholder")
    error.op, error.operand, error.source = "aten::im2col", "(2, 3) float32", "modeling_x.py:7"
    result = heads(EagerDouble(error=error))
    assert (result.op, result.operand, result.source) == (
        "aten::im2col",
        "(2, 3) float32",
        "modeling_x.py:7",
    )
    assert result.op_source == "guard"


def test_incompatible_toolkit_is_failed_and_told_apart_b06():
    error = BackendIncompatibleError("trace() returns 4 values where 5 were expected")
    result = heads(EagerDouble(error=error))
    assert result.outcome is Outcome.FAILED
    assert result.message.startswith("BackendIncompatibleError: trace() returns 4")


@pytest.mark.parametrize(
    "error",
    [
        BackendUnavailableError("No device.", "pip install it"),
        unittest.SkipTest("needs timm"),
        pytest.skip.Exception("needs timm"),
    ],
)
def test_what_cannot_run_here_is_skipped_with_its_reason(error):
    result = heads(EagerDouble(error=error))
    assert result.outcome is Outcome.SKIPPED
    assert result.reason in ("needs timm", "No device. Install it with: pip install it")


def test_failing_test_helper_is_a_failure():
    assert heads(EagerDouble(error=pytest.fail.Exception("no"))).outcome is Outcome.FAILED


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_interruptions_pass_through(error):
    with pytest.raises(type(error)):
        heads(EagerDouble(error=error))


def test_unknown_backend_is_a_result_that_lists_those_that_exist():
    subject = pytest.fail
    result = run(request_for(Heads()), subject, lambda stage: None)
    assert result.outcome is Outcome.FAILED
    assert "no backend is called 'double'" in result.message
    assert result.stage is None


def test_outputs_are_compared_before_a_later_call_changes_them():
    """A model that returns its own buffer must not be compared with what the next call left."""

    class Buffered(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("state", torch.zeros(2, 4))

        def forward(self, x):
            self.state.copy_(x)
            return OrderedDict(state=self.state)

    result = run_double(Buffered(), MadeInputs(normal(4)), EagerDouble())
    assert result.outcome is Outcome.PASSED


# Assignment through a mask of bools


@dataclasses.dataclass
class Miscompiling(EagerDouble):
    """Exports another function than the model's: `wrong`."""

    wrong: Any = None

    def export(self, model, inputs, options):
        return super().export(Function(self.wrong), inputs, options)


def masked(share: float):
    """``x``, a mask with this share of its elements true, and a value for each of those."""

    def make(generator, family, batch):
        x = torch.randn(batch, 4, generator=generator)
        count = round(share * x.numel())
        order = torch.randperm(x.numel(), generator=generator).view_as(x)
        return {"x": x, "m": order < count, "v": torch.randn(count, generator=generator)}

    return MadeInputs(make)


def assign_scalar(x, m, v):
    x = x.clone()
    x[m] = 0
    return x


def assign_vector(x, m, v):
    x = x.clone()
    x[m] = v
    return x


def add_one(x, m, v):
    x = x.clone()
    x[m] += 1
    return x


def assign_rows(x, m, v):
    x = x.clone()
    x[m[:, 0]] = 0
    return x


def where_for_scalar(x, m, v):
    return torch.where(m, torch.zeros(()), x)


def where_for_vector(x, m, v):
    # Takes the value at the element's own place, where the right one counts the true ones.
    padded = torch.cat([v, v.new_zeros(x.numel() - v.numel())])
    return torch.where(m, padded.view_as(x), x)


def mask_as_rows(x, m, v):
    x = x.clone()
    x[m[:, 0].long()] = 0
    return x


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("body", [assign_scalar, assign_vector, add_one, assign_rows])
def test_assignment_through_a_mask_passes_where_it_is_right_b50(body, share):
    assert function(body, masked(share)).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("body", "wrong", "share", "passes"),
    [
        (assign_scalar, where_for_scalar, 0.5, True),
        (assign_vector, where_for_vector, 0.5, False),
        (assign_vector, where_for_vector, 0.0, True),
        (assign_vector, where_for_vector, 1.0, True),
        (assign_rows, mask_as_rows, 0.5, False),
        (assign_rows, mask_as_rows, 0.0, False),
    ],
)
def test_each_variant_of_a_miscompiled_assignment_has_its_own_verdict_b50(
    body, wrong, share, passes
):
    result = function(body, masked(share), Miscompiling(wrong=wrong))
    assert (result.outcome is Outcome.PASSED) == passes
    assert passes or "differs" in result.message


# An entry of exactness


def test_an_exactness_entry_of_dynamo_drops_that_comparison_and_no_other():
    excuse = Skip("rounds")
    entry = Entry(EXPORT_SKIPS, Scope.parse("dynamo.exactness"), "Heads", excuse, 1)
    registry = Registry([entry])
    perturbing = EagerDouble(edit=lambda output: {**output, "logits": output["logits"] + 0.5})

    def under(backend: str, double: EagerDouble, **values) -> CaseResult:
        terms = terms_for(registry, ExportCase("Heads", None, backend, **values))
        return heads(double, exactness_reason=terms.exactness_reason)

    for variant in ({"dynamic": False}, {"dynamic": True}, {"generate": True}):
        excused = under("dynamo", perturbing, **variant)
        assert excused.outcome is Outcome.PASSED
        assert excused.metrics["logits"].max_abs == pytest.approx(0.5)
        assert "Figures cannot fail it (rounds)." in excused.message
    for other in ("onnx", "openvino", "executorch", "neuron"):
        assert under(other, perturbing).outcome is Outcome.FAILED
    dropping = EagerDouble(edit=lambda output: {"logits": output["logits"]})
    assert under("dynamo", dropping).outcome is Outcome.FAILED
