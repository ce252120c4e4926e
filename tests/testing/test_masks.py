from __future__ import annotations

import pytest
import torch

from testing.comparison.masks import MaskedLeaves, comparison_masks, find_mask, find_masked_leaves
from tests.testing.doubles import MadeInputs

PADDED = torch.tensor([[1, 1, 1, 0], [0, 0, 1, 1]])


@pytest.mark.parametrize(
    "mask",
    [
        None,
        {"full": PADDED},
        PADDED[:, None, None].bool(),
        torch.tensor([[0.0, -1e9]]),
        torch.ones(4),
    ],
    ids=["none", "dict", "block", "additive", "1-D"],
)
def test_masks_that_are_not_two_axes_of_zeros_and_ones_pass_through(mask):
    assert find_mask({"attention_mask": mask}) is None


def test_attention_mask_comes_before_the_pixel_mask():
    pixels = torch.ones(2, 9)
    assert find_mask({"pixel_attention_mask": pixels, "attention_mask": PADDED})[1] is PADDED
    found = find_mask({"pixel_attention_mask": pixels, "attention_mask": PADDED[:, None]})
    assert found[0] == "pixel_attention_mask"


def test_mask_of_a_decoder_or_of_pixels_alone_is_none():
    assert find_mask({"decoder_attention_mask": PADDED, "pixel_mask": PADDED}) is None


def make(generator, family, batch):
    mask = PADDED.repeat(batch, 1)[:batch]
    ids = torch.randint(0, 9, (batch, 4), generator=generator)
    return {"input_ids": ids, "decoder_input_ids": ids, "attention_mask": mask}


def masked(call) -> MaskedLeaves:
    inputs = MadeInputs(make)
    return find_masked_leaves(call(inputs.traced()), inputs.traced(), inputs, call)


def test_leaves_that_follow_batch_and_sequence_are_found():
    def call(inputs):
        ids = inputs["input_ids"]
        batch = ids.shape[0]
        return {
            "hidden": ids[..., None] * torch.ones(3),
            "heads": torch.ones(batch, 4, ids.shape[1], ids.shape[1]),
            "labels": torch.ones(batch, 4),
            "decoder": inputs["decoder_input_ids"],
            "layers": torch.ones(2, 4, 5),
            "mixed": ids.T @ ids,
        }

    assert masked(call) == MaskedLeaves(frozenset({"hidden"}))


def test_model_that_takes_no_other_size_gets_no_mask_and_the_result_says_why():
    def call(inputs):
        if inputs["input_ids"].shape[1] != 4:
            raise ValueError("fixed length")
        return inputs["input_ids"]

    found = masked(call)
    assert not found.paths
    assert "`attention_mask` masks are compared too: ValueError" in found.note


def test_batch_equal_to_the_sequence_is_told_apart():
    def call(inputs):
        ids = inputs["input_ids"].float()
        return {"similarity": ids @ ids.T, "hidden": ids}

    inputs = MadeInputs(make, batch_size=4)
    found = find_masked_leaves(call(inputs.traced()), inputs.traced(), inputs, call)
    assert found.paths == {"hidden"}


def test_every_sample_keeps_something_to_compare():
    mask = torch.tensor([[0, 1, 1], [0, 0, 0]])
    hidden = torch.ones(2, 3, 5)
    found = comparison_masks(hidden, {"attention_mask": mask}, MaskedLeaves(frozenset({""})))
    assert found[""].tolist() == [[False, True, True], [True, True, True]]


def test_mask_without_zeros_leaves_nothing_out():
    inputs = {"attention_mask": torch.ones(2, 3)}
    assert comparison_masks(torch.ones(2, 3), inputs, MaskedLeaves(frozenset({""}))) == {}


def test_keys_of_a_cache_have_the_positions_on_their_third_axis():
    def call(inputs):
        batch, length = inputs["input_ids"].shape
        layers = {"keys": torch.ones(batch, 4, length, 2), "cross": torch.ones(batch, 4, 4, 2)}
        return {"cache": layers, "attentions": torch.ones(batch, 4, length, length)}

    assert masked(call).paths == {"cache.keys"}


def test_what_is_cached_of_a_masked_position_is_left_out_of_every_head():
    cached = {"past_key_values": torch.ones(2, 3, 4, 5)}
    found = comparison_masks(
        cached, {"attention_mask": PADDED}, MaskedLeaves(frozenset({"past_key_values"}))
    )
    assert found["past_key_values"].tolist() == (PADDED != 0)[:, None].expand(2, 3, 4).tolist()
