from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass

import pytest
import torch

from testing.comparison import Comparison, compare, worst
from testing.comparison.allowance import allowance
from testing.registry.entries import Tolerance
from testing.results import LeafMetrics

TOLERANCE = Tolerance(1e-4, 1e-4)


def values(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def failures(eager, exported, tolerance=TOLERANCE, **kwargs) -> tuple[str, ...]:
    return compare(eager, exported, tolerance, **kwargs).failures


def only_failure(eager, exported, tolerance=TOLERANCE, **kwargs) -> str:
    (failure,) = failures(eager, exported, tolerance, **kwargs)
    return failure


# Structure


def test_nested_outputs_agree_with_themselves_b03():
    @dataclass
    class Output:
        logits: torch.Tensor
        loss: torch.Tensor | None = None

    x, y = values(2, 3), values(2)
    for output in ((x, None, {"a": y, "b": [x, y]}), [x], {"a": x}, Output(x), (x, ())):
        assert failures(output, output) == ()


def test_leaf_deep_in_a_structure_is_named_by_its_path_b03():
    x = values(2, 3)
    eager = (x, None, {"a": x, "b": [x, values(2)]})
    exported = (x, None, {"a": x, "b": [x, values(2) + 1]})
    assert "`2.b.1` differs at [" in only_failure(eager, exported)


def test_none_matches_none_only_b03():
    x = values(2, 3)
    assert failures((x, None), (x, None)) == ()
    assert only_failure((x, None), (x, values(2))) == (
        "`1` is a tensor (2,) of float32 where eager has None"
    )
    assert "`1` is None where eager has a tensor" in only_failure((x, x), (x, None))


def test_bare_tensor_is_called_output():
    assert "`output` differs" in only_failure(values(3), values(3) + 1)


def test_missing_trailing_output_fails_by_name_b18():
    x = values(2)
    assert only_failure((x, x + 1, x + 2), (x, x + 1)) == "`2` is missing"


def test_missing_and_extra_keys_fail_by_name_b18():
    x = values(2)
    found = failures({"logits": x, "hidden_states": x * 3}, {"logits": x, "attentions": x + 5})
    assert found == (
        "`hidden_states` is missing",
        "`attentions` is no leaf of eager",
    )


def test_renamed_leaf_is_told_from_a_new_one():
    x, y = values(4), values(4, seed=1)
    found = failures({"a": x, "b": y}, {"a": x, "c": y})
    assert "`c` is no leaf of eager; it holds what `b` should" in found


@pytest.mark.parametrize("output", [(), None, (None,), {}, {"a": 3}])
def test_comparison_without_tensors_fails_b18(output):
    assert failures(output, output) == ("eager's output holds no tensor, so nothing was compared",)


def test_empty_output_in_place_of_tensors_fails_b18():
    assert "`0` is missing" in failures((values(2),), ())


def test_order_of_keys_alone_is_no_failure_b24():
    x = torch.tensor(3.0)
    found = compare({"b": x + 1, "a": x * 2}, {"a": x * 2, "b": x + 1}, TOLERANCE)
    assert found.passed
    assert found.notes == ("the leaves come in another order than eager's: a, b",)


def test_swap_names_both_keys_b24():
    x = torch.tensor(3.0)
    found = failures({"b": x + 1, "a": x * 2}, {"b": x * 2, "a": x + 1})
    assert any("`a` holds what `b` should" in text for text in found)
    assert any("`b` holds what `a` should" in text for text in found)


def test_swap_of_leaves_of_other_shapes_names_both_keys_b24():
    a, b = values(2, 3), values(4)
    found = failures({"a": a, "b": b}, {"a": b, "b": a})
    assert any("`a` has rank 1" in text and "holds what `b` should" in text for text in found)


@pytest.mark.parametrize(
    "exported",
    [
        torch.ones(1, 3),
        torch.ones(3),
        torch.tensor(1.0),
        torch.ones(2, 3, 1),
        torch.ones(0, 3),
        torch.ones(3, 2),
    ],
)
def test_shapes_do_not_broadcast_b49(exported):
    failure = only_failure(torch.ones(2, 3), exported)
    assert f"shape {tuple(exported.shape)} where eager has (2, 3)" in failure


def test_rank_is_named():
    assert "rank 3 where eager has 2" in only_failure(values(2, 3), values(2, 3, 1))


def test_empty_tensors_of_one_shape_pass_and_are_noted_b49():
    found = compare((torch.ones(0, 3),), (torch.ones(0, 3),), TOLERANCE)
    assert found.passed
    assert found.notes == ("`0` is empty: no elements compared",)
    assert found.proves_nothing
    assert "shape (0, 4)" in only_failure((torch.ones(0, 3),), (torch.ones(0, 4),))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.int64, torch.bool])
def test_other_dtype_fails(dtype):
    ones = torch.ones(2)
    assert "where eager has float32" in only_failure(ones, ones.to(dtype))


def test_int32_in_place_of_int64_fails():
    failure = only_failure(torch.arange(3), torch.arange(3, dtype=torch.int32))
    assert failure == "`output` has dtype int32 where eager has int64"


def test_python_values_are_compared():
    x = values(2)
    assert failures((x, 3, "a", 0.5), (x, 3, "a", 0.5 + 1e-9)) == ()
    assert "`1` is 4 where eager has 3" in only_failure((x, 3), (x, 4))
    assert "`1` is a bool where eager has a int" in only_failure((x, 1), (x, True))
    assert "`1` differs" in only_failure((x, 0.5), (x, 0.6))


def test_named_tuples_are_compared_by_field():
    pair = namedtuple("pair", "values indices")
    x = values(3)
    assert "`indices`" in only_failure(pair(x, torch.tensor(1)), pair(x, torch.tensor(2)))


# Integers


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (2**40, 2**40 + 1),
        (2**55 + 8, 2**55 + 3),
        (2**62, 2**62 + 1),
        (-(2**62), 2**62),
        (-(2**63), 2**63 - 1),
    ],
)
def test_large_integers_are_compared_exactly_b47(one, other):
    eager, exported = torch.tensor([0, one]), torch.tensor([0, other])
    loose = Tolerance(atol=1e30, rtol=1e30, mismatch=1.0)
    failure = only_failure(eager, exported, loose)
    assert f"differs at [1]: {other} where eager has {one}" in failure
    apart = compare(eager, exported, loose).metrics["output"].max_abs
    assert apart == float(abs(other - one))


def test_bools_are_compared_exactly():
    eager = torch.tensor([True, False, True])
    assert failures(eager, eager.clone()) == ()
    assert "differs at [1]" in only_failure(eager, torch.tensor([True, True, True]))


def test_integer_is_never_absorbed_by_a_tolerance_b08():
    assert failures(torch.arange(9), torch.arange(9) + (torch.arange(9) == 4), Tolerance(9, 9))


def test_cumulative_maximum_of_ties_is_a_mismatch_that_is_called_a_tie_b08():
    x = torch.ones(1, 3)
    eager = x.cummax(1)
    exported = (eager.values, torch.zeros(1, 3, dtype=torch.int64))
    assert eager.indices.tolist() == [[0, 1, 2]]  # core PyTorch points at the last
    failure = only_failure(tuple(eager), exported, sources={"x": x})
    assert "`1` differs" in failure
    assert "a tie: the values that both gather from axis 1 of `x` agree" in failure


def test_argmax_without_a_values_leaf_is_told_from_its_float_input_b08():
    x = torch.tensor([[1.0, 5.0, 5.0], [2.0, 2.0, 0.0]])
    failure = only_failure(torch.tensor([1, 0]), torch.tensor([2, 1]), sources={"x": x})
    assert "a tie" in failure


def test_wrong_index_is_not_called_a_tie_b08():
    x = torch.tensor([[1.0, 5.0, 4.0]])
    eager = x.topk(2, dim=1)
    exported = (eager.values, torch.tensor([[1, 0]]))
    failure = only_failure(tuple(eager), exported, sources={"x": x})
    assert "a tie:" not in failure


def test_equal_values_beside_show_a_tie_where_the_source_is_unknown_b08():
    scores = torch.tensor([[3.0, 1.0, -1e30, -1e30]])
    # Indices into a longer axis of something that the model does not return.
    eager, exported = torch.tensor([[0, 1, 22, 9]]), torch.tensor([[0, 1, 9, 22]])
    failure = only_failure((scores, eager), (scores.clone(), exported))
    assert "a tie: `0` agrees and holds equal values there" in failure
    exported = torch.tensor([[1, 0, 22, 9]])
    assert "may be a tie" in only_failure((scores, eager), (scores.clone(), exported))


def test_bools_beside_are_no_values_that_an_index_points_at_b08():
    odd = torch.tensor([[True, False, True, False]])
    eager = torch.tensor([[2**40, 2**41, 2**42, 2**43]])
    assert "tie" not in only_failure((odd, eager), (odd.clone(), eager % 2**31))


def test_integer_source_explains_a_tie_only_with_the_values_beside_b08():
    x = torch.tensor([[7, 7, 3]])
    found = failures((torch.tensor([[0]]),), (torch.tensor([[1]]),), sources={"mask": x})
    assert "tie" not in found[0]
    eager = x.topk(1, dim=1)
    failure = only_failure(tuple(eager), (eager.values, 1 - eager.indices), sources={"x": x})
    assert "a tie: the values that both gather from axis 1 of `x` agree" in failure


# NaN and infinities


def test_nan_for_a_number_fails_although_most_elements_agree_b05():
    eager = values(2, 8)
    exported = eager.clone()
    exported[1, 5] = math.nan
    assert "differs at [1, 5]: nan where eager has" in only_failure(eager, exported)
    assert ": nan where" in only_failure(eager, exported, Tolerance(1, 1, mismatch=0.5))


def test_number_for_nan_fails_b09():
    x = torch.tensor([math.nan, -math.inf, math.inf, 0.5])
    eager = x.clamp(0, 1)
    assert "differs at [0]: 0 where eager has nan" in only_failure(
        eager, torch.tensor([0.0, 0.0, 1.0, 0.5])
    )
    assert failures(eager, eager.clone()) == ()


def test_infinities_keep_their_sign_b09():
    eager = torch.tensor([math.inf, -math.inf, 1.0])
    assert failures(eager, eager.clone()) == ()
    assert "inf where eager has -inf" in only_failure(eager, eager.abs())
    assert "where eager has inf" in only_failure(eager, torch.tensor([3e38, -math.inf, 1.0]))


def test_nan_in_a_row_that_attends_to_nothing_is_located_b21():
    eager = torch.cat([torch.zeros(1, 4), values(2, 4)])[None]
    exported = eager.clone()
    exported[0, 0] = math.nan
    assert "differs at [0, 0, 0]: nan where eager has 0" in only_failure(eager, exported)


# Masked positions


def test_masked_positions_are_left_out_and_said_b05():
    eager, keep = values(2, 4, 3), torch.tensor([[True] * 4, [False, False, False, True]])
    exported = eager.clone()
    exported[1, :3] = math.nan
    found = compare(eager, exported, TOLERANCE, masks={"": keep})
    assert found.passed
    assert found.notes == (
        "`output`: positions that the inputs' mask leaves out are not compared",
    )
    exported[1, 3, 0] = math.nan
    assert "differs at [1, 3, 0]" in only_failure(eager, exported, masks={"": keep})


def test_nan_of_eager_in_masked_positions_fails_nothing():
    eager, keep = values(2, 4, 3), torch.tensor([[True] * 4, [True, True, False, False]])
    eager[1, 2:] = math.nan
    found = compare(eager, values(2, 4, 3), TOLERANCE, masks={"": keep})
    assert found.passed
    assert found.metrics["output"].max_abs == 0.0


# Tolerance


def test_allowance_is_the_documented_sum():
    eager = torch.tensor([0.0, 2.0, -4.0], dtype=torch.float64)
    floor = 16 * 2.0**-23 * 4
    expected = [max(floor, 1e-3) + 1e-2 * size for size in (0, 2, 4)]
    found = allowance(eager, torch.float32, Tolerance(1e-3, 1e-2))
    assert found.tolist() == pytest.approx(expected)


def test_share_of_mismatches_is_zero_unless_it_is_asked_for():
    eager = values(10, 10)
    exported = eager.clone()
    exported[3, 4] += 0.5
    assert "1 of 100 elements" in only_failure(eager, exported)
    assert failures(eager, exported, Tolerance(1e-4, 1e-4, mismatch=0.01)) == ()
    exported[5, 5] += 0.5
    assert failures(eager, exported, Tolerance(1e-4, 1e-4, mismatch=0.01))


def test_low_precision_sum_that_stops_fails_b16():
    ones = torch.ones(1, 512, dtype=torch.bfloat16)
    stopped = 256.0  # where a running sum in bfloat16 stops: 256 + 1 rounds to 256
    eager = {
        "sum": ones.sum(-1),
        "mean": ones.mean(-1),
        "softmax": ones.softmax(-1),
    }
    wrong = {
        "sum": torch.full_like(eager["sum"], stopped),
        "mean": torch.full_like(eager["mean"], stopped / 512),
        "softmax": torch.full_like(eager["softmax"], 1 / stopped),
    }
    assert float(eager["sum"]) == 512
    for atol in (1e-4, 1e-3):
        found = compare(eager, wrong, Tolerance(atol, atol))
        assert len(found.numeric) == 3


def test_low_precision_rounding_passes_b16():
    eager = values(4, 64).softmax(-1).to(torch.bfloat16)
    next_up = torch.nextafter(eager, torch.full_like(eager, 9.0))
    assert failures(eager, next_up) == ()


def test_rounding_of_a_cancelling_bias_passes_b51_i():
    weight, x = values(8, 64), values(2, 64, seed=1)
    bias = -(x[0] @ weight.T)
    eager = torch.nn.functional.linear(x[:1], weight, bias + 1e-6)
    pieces = [x[:1, i : i + 1] @ weight[:, i : i + 1].T for i in range(63, -1, -1)]
    exported = torch.stack(pieces).sum(0) + (bias + 1e-6)
    assert not torch.equal(eager, exported)
    assert float(eager.abs().max()) < 1e-5
    assert failures(eager, exported) == ()


@pytest.mark.parametrize("tolerance", [1e-4, 1e-3])
def test_zeros_for_small_outputs_fail_b51_ii(tolerance):
    eager = values(4, 8) * 1e-4
    assert failures(eager, torch.zeros(4, 8), Tolerance(tolerance, tolerance))


@pytest.mark.parametrize("tolerance", [1e-4, 1e-3])
def test_each_output_has_a_scale_of_its_own_b51_iii(tolerance):
    large, small = values(4, 8) * 1e4, values(4, 8, seed=1) * 1e-4
    found = failures((large, small), (large, small * 0), Tolerance(tolerance, tolerance))
    assert len(found) == 1
    assert found[0].startswith("`1` differs")


@pytest.mark.parametrize("tolerance", [1e-4, 1e-3])
def test_small_logits_are_told_from_zeros_and_other_rows_b51_iv(tolerance):
    logits = values(2, 5, 100) * 0.02
    for wrong in (torch.zeros_like(logits), logits.roll(1, dims=1), logits.flip(0)):
        assert failures(logits, wrong, Tolerance(tolerance, tolerance))


def test_failure_tells_figures_and_scale_b51():
    eager = torch.tensor([0.5, -2.0])
    failure = only_failure(eager, torch.tensor([0.5, -1.0]))
    assert "max abs 1, max rel 0.5, scale 2" in failure


@pytest.mark.parametrize("fill", [-1e9, torch.finfo(torch.float32).min])
def test_fill_values_of_masked_scores_do_not_stretch_the_allowance(fill):
    scores = values(8, 8).masked_fill(torch.ones(8, 8).triu(1).bool(), fill)
    exported = scores.clone()
    exported[5, 2] += 1e-3
    assert "differs at [5, 2]" in only_failure(scores, exported)


def test_complex_leaves_are_compared_by_part():
    eager = torch.complex(values(3), values(3, seed=1))
    assert failures(eager, eager.clone()) == ()
    assert "differs at [1, 1]" in only_failure(eager, eager + torch.tensor([0, 1e-2j, 0]))


def test_one_perturbed_element_is_named_with_index_and_figures():
    eager = values(2, 3, 4)
    exported = eager.clone()
    exported[1, 2, 3] += 1e-3
    failure = only_failure({"logits": eager}, {"logits": exported})
    assert "`logits` differs at [1, 2, 3]" in failure
    assert "1 of 24 elements; max abs 0.001" in failure


# Figures


def test_metrics_have_their_definitions():
    eager, exported = torch.tensor([1.0, 2.0, 0.0, 4.0]), torch.tensor([1.0, 2.5, 0.25, 4.0])
    metrics = compare(eager, exported, TOLERANCE).metrics["output"]
    dot, norms = 1 + 5 + 16, math.sqrt(21) * math.sqrt(1 + 6.25 + 0.0625 + 16)
    centred = [(-0.75, -0.9375), (0.25, 0.5625), (-1.75, -1.6875), (2.25, 2.0625)]
    covariance = sum(a * b for a, b in centred)
    spread = math.sqrt(sum(a * a for a, _ in centred) * sum(b * b for _, b in centred))
    assert metrics.max_abs == 0.5
    assert metrics.max_rel == 0.25
    assert metrics.mismatched == 0.5
    assert metrics.cosine == pytest.approx(dot / norms, abs=1e-12)
    assert metrics.pearson == pytest.approx(covariance / spread, abs=1e-12)


def test_the_share_of_the_tolerance_that_is_used_is_the_largest_of_all_elements():
    eager, exported = torch.tensor([1.0, 2.0, 0.0, 4.0]), torch.tensor([1.0, 2.5, 0.25, 4.0])
    found = compare(eager, exported, Tolerance(1.0, 0.5)).metrics["output"]
    # 0.5 of 1 + 0.5 * 2, and 0.25 of 1 + 0.5 * 0.
    assert found.tolerance_used == pytest.approx(0.25)


def test_where_nothing_is_allowed_no_share_of_it_is_used():
    eager, exported = torch.tensor([1, 2]), torch.tensor([1, 3])
    assert compare(eager, exported, TOLERANCE).metrics["output"].tolerance_used is None


def test_figures_without_a_meaning_are_none():
    metrics = compare(torch.full((3,), 0.1), torch.zeros(3), TOLERANCE).metrics["output"]
    assert (metrics.cosine, metrics.pearson) == (None, None)


def test_figures_survive_nan_and_the_largest_values():
    eager = torch.tensor([math.nan, 3e38, -3e38, 1.0])
    metrics = compare(eager, eager.clone(), TOLERANCE).metrics["output"]
    assert metrics.max_abs == 0.0
    assert metrics.cosine == pytest.approx(1.0)
    assert metrics.pearson == pytest.approx(1.0)


def test_near_constant_leaves_are_noted_as_proving_nothing():
    flat, spread = torch.full((2, 4), 0.3) + values(2, 4) * 1e-8, values(2, 4)
    found = compare((flat, spread), (flat, spread), TOLERANCE)
    assert found.passed
    assert not found.proves_nothing
    assert "`0`: eager is near-constant, so agreeing with it proves nothing" in found.notes
    assert compare(flat, flat, TOLERANCE).proves_nothing
    assert not compare(spread, spread, TOLERANCE).proves_nothing


def test_worst_takes_each_figure_from_the_comparison_that_is_worst():
    one = Comparison({"a": LeafMetrics(1.0, 0.1, 0.9, None, 0.0, 0.25)})
    other = Comparison({"a": LeafMetrics(0.5, 0.2, 1.0, 0.8, 0.5, None)})
    assert worst([one, other]) == {"a": LeafMetrics(1.0, 0.2, 0.9, 0.8, 0.5, 0.25)}
