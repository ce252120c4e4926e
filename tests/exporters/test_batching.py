"""Chunked runs against values that are computed by hand or sample by sample."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.cache_utils import DynamicCache
from transformers.modeling_outputs import BaseModelOutput

from exporters.base import ExportError
from exporters.batching import BatchError, common_batch, run_in_chunks

TRACED = 2


def per_sample(inputs: dict[str, torch.Tensor]) -> dict[str, Any]:
    """A program of batch `TRACED` whose samples do not see each other."""
    assert inputs["x"].shape[0] == TRACED
    return {"y": inputs["x"] * 2, "z": (inputs["x"] + inputs["m"]).sum(1)}


@pytest.mark.parametrize("batch", [1, TRACED, 2 * TRACED, 2 * TRACED + 1])
def test_samples_that_do_not_mix_give_the_whole_batch(batch: int) -> None:
    x, m = torch.randn(batch, 3), torch.randn(batch, 3)
    out = run_in_chunks(per_sample, {"x": x, "m": m}, TRACED)
    assert torch.equal(out["y"], torch.stack([2 * row for row in x]))
    expected = torch.stack([(a + b).sum() for a, b in zip(x, m, strict=True)])
    assert torch.allclose(out["z"], expected)


@given(batch=st.integers(1, 9), size=st.integers(1, 9))
@settings(deadline=None)
def test_rows_keep_their_order_for_every_batch_and_chunk_size(batch: int, size: int) -> None:
    rows = torch.arange(batch)
    seen: list[list[int]] = []

    def call(inputs: dict[str, Any]) -> torch.Tensor:
        seen.append(inputs["rows"].tolist())
        return inputs["rows"]

    assert run_in_chunks(call, {"rows": rows}, size).tolist() == list(range(batch))
    assert len(seen) == -(-batch // size)
    assert all(len(chunk) == size for chunk in seen)


def test_the_last_chunk_is_padded_with_zeros_of_the_same_dtype() -> None:
    chunks: list[torch.Tensor] = []

    def call(inputs: dict[str, Any]) -> torch.Tensor:
        chunks.append(inputs["mask"])
        return inputs["mask"]

    run_in_chunks(call, {"mask": torch.ones(3, 2, dtype=torch.bool)}, TRACED)
    assert chunks[1].dtype == torch.bool
    assert chunks[1].tolist() == [[True, True], [False, False]]


def test_reduction_over_the_batch_differs_at_every_size_but_the_traced_one() -> None:
    """B01: a mean and a max over axis 0, traced at 2, run at 1, 2 and 5."""

    def reduce(inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        x = inputs["x"]
        return torch.cat([x.mean(0, keepdim=True), x.max(0, keepdim=True).values])

    failing = []
    for batch in (1, 2, 5):
        x = torch.randn(batch, 3)
        whole, chunked = reduce({"x": x}), run_in_chunks(reduce, {"x": x}, TRACED)
        if whole.shape != chunked.shape or not torch.equal(whole, chunked):
            failing.append(batch)
    assert failing == [1, 5]


def test_padding_cannot_pass_for_a_sample_that_is_there() -> None:
    """A maximum over the batch would survive padding by repetition at batch 1."""

    def against_best(inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        return inputs["x"] - inputs["x"].max(0, keepdim=True).values

    x = torch.tensor([[-3.0, -1.0]])
    assert not torch.equal(run_in_chunks(against_best, {"x": x}, TRACED), against_best({"x": x}))


def test_similarity_of_all_pairs_loses_the_pairs_across_chunks() -> None:
    """CLIP's ``logits_per_image`` is (4, 2) from chunks of 2 where eager gives (4, 4)."""

    def similarity(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {"logits_per_image": inputs["image"] @ inputs["text"].T}

    inputs = {"image": torch.randn(4, 8), "text": torch.randn(4, 8)}
    assert similarity(inputs)["logits_per_image"].shape == (4, 4)
    chunked = run_in_chunks(similarity, inputs, TRACED)
    assert chunked["logits_per_image"].shape == (4, 2)


def test_nested_outputs_keep_their_structure() -> None:
    def call(inputs: dict[str, Any]) -> BaseModelOutput:
        x = inputs["x"]
        return BaseModelOutput(last_hidden_state=x + 1, attentions=(x, (x * 3,)))

    x = torch.randn(5, 2)
    out = run_in_chunks(call, {"x": x}, TRACED)
    assert isinstance(out, BaseModelOutput)
    assert out.hidden_states is None
    assert torch.equal(out.last_hidden_state, x + 1)
    assert torch.equal(out.attentions[1][0], x * 3)


def test_a_cache_is_split_grown_and_joined() -> None:
    past = DynamicCache()
    keys, values = torch.randn(3, 1, 4, 2), torch.randn(3, 1, 4, 2)
    past.update(keys, values, 0)

    def call(inputs: dict[str, Any]) -> dict[str, Any]:
        cache, x = inputs["past"], inputs["x"]
        cache.update(x, -x, 0)
        return {"past": cache}

    x = torch.randn(3, 1, 1, 2)
    out = run_in_chunks(call, {"past": past, "x": x}, TRACED)
    assert isinstance(out["past"], DynamicCache)
    assert torch.equal(out["past"].layers[0].keys, torch.cat([keys, x], dim=2))
    assert torch.equal(out["past"].layers[0].values, torch.cat([values, -x], dim=2))


def test_inputs_that_the_program_changes_are_the_callers_as_before() -> None:
    """B27: each chunk is a copy, also a chunk that needed no padding."""
    past = DynamicCache()
    past.update(torch.ones(2, 1, 4, 2), torch.ones(2, 1, 4, 2), 0)

    def call(inputs: dict[str, Any]) -> torch.Tensor:
        inputs["past"].update(torch.ones(2, 1, 1, 2), torch.ones(2, 1, 1, 2), 0)
        return inputs["x"].add_(1)

    x = torch.zeros(2, 3)
    run_in_chunks(call, {"x": x, "past": past}, TRACED)
    assert torch.equal(x, torch.zeros(2, 3))
    assert past.get_seq_length() == 4


def test_one_tensor_under_two_names_is_split_under_both() -> None:
    x = torch.arange(3.0).reshape(3, 1)
    out = run_in_chunks(lambda i: i["a"] - 2 * i["b"], {"a": x, "b": x}, TRACED)
    assert torch.equal(out, -x)


def test_what_is_no_tensor_reaches_every_chunk_and_comes_back_once() -> None:
    flags: list[Any] = []

    def call(inputs: dict[str, Any]) -> dict[str, Any]:
        flags.append((inputs["flag"], inputs["bias"]))
        return {"y": inputs["x"], "n": float("nan"), "none": None}

    out = run_in_chunks(call, {"x": torch.ones(5, 1), "flag": False, "bias": None}, TRACED)
    assert flags == [(False, None)] * 3
    assert out["none"] is None
    assert out["n"] != out["n"]


@pytest.mark.parametrize(
    ("inputs", "leaf", "words"),
    [
        ({"x": torch.ones(4, 1), "scale": torch.tensor(2.0)}, "scale", "scalar"),
        ({"x": torch.ones(4, 1), "y": [torch.ones(1, 3)]}, "y.0", "1 on axis 0, where x has 4"),
        ({"flag": True}, "inputs", "no tensor"),
        ({"x": torch.ones(0, 3)}, "x", "empty"),
    ],
)
def test_inputs_without_one_batch_are_refused_by_name(
    inputs: dict[str, Any], leaf: str, words: str
) -> None:
    with pytest.raises(BatchError, match=words) as error:
        common_batch(inputs)
    assert error.value.leaf == leaf


def _scalar(inputs: dict[str, Any]) -> Any:
    return {"loss": inputs["x"].sum()}


def _one_row(inputs: dict[str, Any]) -> Any:
    return {"mean": inputs["x"].mean(0, keepdim=True)}


def _length_of_the_data(inputs: dict[str, Any]) -> Any:
    return {"y": inputs["x"][:, : int(inputs["x"].max())]}


def _sometimes_none(inputs: dict[str, Any]) -> Any:
    return {"y": inputs["x"] if inputs["x"][0, 0] < 1.5 else None}


def _a_count(inputs: dict[str, Any]) -> Any:
    return {"count": int(inputs["x"].sum())}


def _another_name(inputs: dict[str, Any]) -> Any:
    return {f"y{int(inputs['x'][0, 0])}": inputs["x"]}


@pytest.mark.parametrize(
    ("call", "leaf", "words"),
    [
        (_scalar, "loss", "scalar output"),
        (_one_row, "mean", "1 on axis 0 from a chunk of 2 samples"),
        (_length_of_the_data, "y", r"\(2, 1\) float32 from one chunk and \(2, 2\) float32"),
        (_sometimes_none, "y", "a tensor from one chunk and None from another"),
        (_a_count, "count", "6 from one chunk and 12 from another"),
        (_another_name, "y", "some chunks and not of others"),
    ],
)
def test_outputs_that_are_not_batched_are_refused_by_name(
    call: Any, leaf: str, words: str
) -> None:
    x = torch.ones(4, 3)
    x[2:] = 2
    with pytest.raises(BatchError, match=words) as error:
        run_in_chunks(call, {"x": x}, TRACED)
    assert error.value.leaf.startswith(leaf)


def test_refusals_are_errors_of_the_backend_and_value_errors_as_documented() -> None:
    assert issubclass(BatchError, ExportError)
    assert issubclass(BatchError, ValueError)


def test_a_chunk_of_no_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one sample, not 0"):
        run_in_chunks(per_sample, {"x": torch.ones(1, 1)}, 0)
