"""Inputs: what differs from the trace, and how."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import DynamicCache

from exporters.tree import tensor_leaves
from testing.inputs import SampledInputs
from testing.inputs.domains import Domain, Kind, Place, Run

LENGTH = 16
PAD, EOS, IMAGE = 0, 2, 90


def text_domains(**tokens: Any) -> dict[str, Domain]:
    ids = Domain(
        Kind.TOKENS,
        (LENGTH,),
        high=100,
        excluded=frozenset({PAD, 1, EOS, IMAGE}),
        pad=PAD,
        mask="attention_mask",
        **tokens,
    )
    return {
        "input_ids": ids,
        "attention_mask": Domain(Kind.MASK, (LENGTH,)),
        "token_type_ids": Domain(Kind.INDEX, (LENGTH,)),
    }


def waves() -> Domain:
    return Domain(Kind.FLOAT, (3, 8), dtype=torch.float32, low=-6, high=6)


def every_fresh(inputs: SampledInputs) -> list[tuple[str, dict[str, Any]]]:
    return [(family, inputs.fresh(family)) for family in inputs.families]


def test_the_trace_is_padded_on_the_right_with_the_pad_token() -> None:
    traced = SampledInputs(text_domains()).traced()
    mask, ids = traced["attention_mask"], traced["input_ids"]
    lengths = mask.sum(1)
    assert len(set(lengths.tolist())) == 2
    assert torch.equal(mask, (torch.arange(LENGTH) < lengths.unsqueeze(1)).long())
    assert ((ids == PAD) == (mask == 0)).all()


def test_every_fresh_leaf_differs_from_the_traced_one() -> None:
    inputs = SampledInputs({**text_domains(), "pixel_values": waves()})
    traced = inputs.traced()
    for family, fresh in every_fresh(inputs):
        same = [name for name in traced if torch.equal(traced[name], fresh[name])]
        assert not same, family


def test_unpadded_means_masks_of_ones() -> None:
    fresh = SampledInputs(text_domains()).fresh("unpadded")
    assert fresh["attention_mask"].all()
    assert not (fresh["input_ids"] == PAD).any()


@pytest.mark.parametrize(("family", "token"), [("first_token", 3), ("last_token", 99)])
def test_families_of_edge_tokens_hold_nothing_else(family: str, token: int) -> None:
    """B28: a fault that only the first or the last id reaches."""
    fresh = SampledInputs(text_domains()).fresh(family)
    real = fresh["input_ids"][fresh["attention_mask"].bool()]
    assert real.unique().tolist() == [token]


def test_constant_ids_are_one_regular_token() -> None:
    fresh = SampledInputs(text_domains()).fresh("constant")
    real = fresh["input_ids"][fresh["attention_mask"].bool()]
    assert len(real.unique()) == 1


def test_constant_floats_have_equal_neighbours() -> None:
    """B28: a fault where neighbouring entries are equal."""
    values = SampledInputs({"x": waves()}).fresh("constant")["x"]
    assert torch.equal(values.amax((1, 2)), values.amin((1, 2)))


def test_ramps_rise_along_each_sample() -> None:
    values = SampledInputs({"x": waves()}).fresh("ramp")["x"].flatten(1)
    assert (values.diff(dim=1) > 0).all()


def test_extremes_reach_both_ends_of_the_domain() -> None:
    """B28: exact for |x| < 3 and wrong above, or a threshold at 5."""
    values = SampledInputs({"x": waves()}).fresh("extremes")["x"]
    assert values.unique().tolist() == [-6, 6]


def test_leaves_of_one_shape_get_different_data() -> None:
    """B12: one shared tensor would hide two swapped arguments."""
    inputs = SampledInputs({"x": waves(), "y": waves()})
    for family, fresh in [("traced", inputs.traced()), *every_fresh(inputs)]:
        assert not torch.equal(fresh["x"], fresh["y"]), family


def test_special_tokens_stand_in_every_sample_as_often() -> None:
    image = Run((IMAGE,) * 3)
    inputs = SampledInputs(text_domains(runs=(image, Run((EOS,), Place.END))))
    for family, fresh in every_fresh(inputs):
        ids, mask = fresh["input_ids"], fresh["attention_mask"]
        assert (ids == IMAGE).sum(1).tolist() == [3, 3], family
        assert (ids == EOS).sum(1).tolist() == [1, 1], family
        assert (ids[torch.arange(2), mask.sum(1) - 1] == EOS).all(), family


def test_placeholders_move_as_one_run() -> None:
    inputs = SampledInputs(text_domains(runs=(Run((IMAGE,) * 3),)))
    places = set()
    for _, fresh in every_fresh(inputs):
        where = (fresh["input_ids"][0] == IMAGE).nonzero().flatten()
        assert where.diff().tolist() == [1, 1]
        places.add(int(where[0]))
    assert len(places) > 2


def test_left_padding_counts_positions_from_the_first_real_token() -> None:
    """B05, B20: left-padded batches of decoders."""
    positions = Domain(Kind.POSITIONS, (LENGTH,), mask="attention_mask")
    fresh = SampledInputs({**text_domains(), "position_ids": positions}).fresh("left_padded")
    mask = fresh["attention_mask"]
    assert mask[:, -1].all()
    assert (mask.diff(dim=1) >= 0).all()
    for row, real in zip(fresh["position_ids"], mask.bool(), strict=True):
        assert row[real].tolist() == list(range(int(real.sum())))


def test_only_decoders_are_padded_on_the_left() -> None:
    assert "left_padded" not in SampledInputs(text_domains()).families


@pytest.mark.parametrize("batch_size", [1, 4, 5])
def test_any_batch_size_changes_axis_0_alone(batch_size: int) -> None:
    inputs = SampledInputs({**text_domains(), "x": waves()})
    for family in inputs.families:
        fresh = inputs.fresh(family, batch_size)
        shapes = {name: tuple(leaf.shape) for name, leaf in fresh.items()}
        assert shapes["input_ids"] == shapes["attention_mask"] == (batch_size, LENGTH)
        assert shapes["x"] == (batch_size, 3, 8)


def test_features_are_zero_where_their_mask_is() -> None:
    mask = Domain(Kind.MASK, (8,), shortest=5)
    sound = Domain(Kind.FLOAT, (8,), dtype=torch.float32, low=-6, high=6, mask="attention_mask")
    inputs = SampledInputs({"input_values": sound, "attention_mask": mask})
    for family, fresh in every_fresh(inputs):
        padded = fresh["attention_mask"] == 0
        assert (fresh["input_values"][padded] == 0).all(), family
        assert fresh["attention_mask"].sum(1).min() >= 5, family


def test_a_mask_follows_its_shortest_length_in_every_row() -> None:
    mask = Domain(Kind.MASK, (2, LENGTH), shortest=12)
    lengths = SampledInputs({"attention_mask": mask}).fresh("noise", 9)["attention_mask"].sum(-1)
    assert lengths.min() == 12
    assert lengths.max() == LENGTH


def test_the_seed_fixes_the_data_in_every_process() -> None:
    code = (
        "import torch; from testing.inputs.domains import *;"
        "from testing.inputs import SampledInputs;"
        "d = Domain(Kind.FLOAT, (4,), dtype=torch.float32, low=-6, high=6);"
        "print(SampledInputs({'x': d}, seed=3).fresh('noise')['x'].tolist())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_another_seed_gives_other_data() -> None:
    one, two = (SampledInputs({"x": waves()}, seed=seed).traced()["x"] for seed in (0, 1))
    assert not torch.equal(one, two)


def test_what_a_caller_changes_does_not_come_back() -> None:
    """B27: a model that eats its inputs."""
    inputs = SampledInputs({"x": waves()})
    inputs.traced()["x"].zero_()
    assert inputs.traced()["x"].any()


def test_a_fixed_leaf_is_listed_with_its_reason() -> None:
    sizes = torch.tensor([[1, 2], [3, 4]])
    fixed = Domain(Kind.FIXED, (2,), value=sizes, reason="sizes of the images")
    inputs = SampledInputs({"sizes": fixed, "x": waves()})
    assert inputs.unchanged == {"sizes": "sizes of the images"}
    assert torch.equal(inputs.fresh("noise", 4)["sizes"], sizes.repeat(2, 1))


def test_an_unknown_family_is_an_error_that_lists_them() -> None:
    with pytest.raises(ValueError, match="no family 'nose'; there are: noise"):
        SampledInputs({"x": waves()}).fresh("nose")


class TestInferred:
    """From the example inputs of a foreign test class."""

    config = SimpleNamespace(
        vocab_size=99, pad_token_id=1, eos_token_id=EOS, image_token_id=IMAGE, model_type="m"
    )

    def example(self) -> dict[str, Any]:
        generator = torch.Generator().manual_seed(0)
        ids = torch.randint(3, 80, (3, 7), generator=generator)
        ids[:, 2:4] = IMAGE
        ids[:, -1] = EOS
        mask = torch.ones(3, 7, dtype=torch.long)
        mask[1, :3] = 0
        return {
            "input_ids": ids,
            "attention_mask": mask,
            "pixel_values": torch.rand(3, 3, 4, 4, generator=generator),
            "head_mask": torch.ones(3, 2),
            "use_cache": False,
            "image_sizes": torch.tensor([[4, 4]] * 3),
        }

    def test_the_example_is_the_trace(self) -> None:
        example = self.example()
        traced = SampledInputs.infer(example, self.config).traced()
        assert list(traced) == list(example)
        for path, leaf in tensor_leaves(example).items():
            assert torch.equal(traced[path], leaf)
            assert traced[path] is not leaf

    def test_every_leaf_differs_or_is_listed(self) -> None:
        inputs = SampledInputs.infer(self.example(), self.config)
        assert set(inputs.unchanged) == {"head_mask", "use_cache", "image_sizes"}
        assert all(inputs.unchanged.values())
        for family, fresh in every_fresh(inputs):
            for path, leaf in tensor_leaves(fresh).items():
                same = torch.equal(leaf, inputs.traced()[path])
                assert same == (path in inputs.unchanged), (family, path)

    def test_counted_tokens_stay_as_many_and_ids_in_the_vocabulary(self) -> None:
        inputs = SampledInputs.infer(self.example(), self.config)
        for family, fresh in every_fresh(inputs):
            ids = fresh["input_ids"]
            assert (ids == IMAGE).sum(1).tolist() == [2, 2, 2], family
            assert (ids == EOS).sum(1).tolist() == [1, 1, 1], family
            assert ids.max() < 99, family

    def test_images_in_0_to_1_stay_there(self) -> None:
        inputs = SampledInputs.infer(self.example(), self.config)
        for _, fresh in every_fresh(inputs):
            assert fresh["pixel_values"].min() >= 0
            assert fresh["pixel_values"].max() <= 1

    def test_python_values_stay_what_they_are(self) -> None:
        fresh = SampledInputs.infer(self.example(), self.config).fresh("noise")
        assert fresh["use_cache"] is False

    def test_ids_of_several_codebooks_follow_no_mask_of_positions(self) -> None:
        example = {"input_ids": torch.ones(2, 6, 4).long(), "attention_mask": torch.ones(2, 6)}
        inputs = SampledInputs.infer(example, self.config)
        assert torch.equal(inputs.traced()["input_ids"], example["input_ids"])
        assert inputs.fresh("noise")["input_ids"].shape == (2, 6, 4)

    def test_a_cache_is_refilled_at_any_batch_size(self) -> None:
        cache = DynamicCache()
        cache.update(torch.randn(2, 2, 5, 4), torch.randn(2, 2, 5, 4), 0)
        inputs = SampledInputs.infer({"input_ids": torch.tensor([[5], [6]]), "cache": cache})
        before, after = inputs.traced()["cache"], inputs.fresh("noise", 4)["cache"]
        assert isinstance(after, DynamicCache)
        assert after.layers[0].keys.shape == (4, 2, 5, 4)
        assert before.layers[0].keys.shape == (2, 2, 5, 4)
        assert not torch.equal(after.layers[0].keys[:2], before.layers[0].keys)

    def test_nested_leaves_differ(self) -> None:
        example = {"a": {"b": [torch.randn(2, 3), None]}, "c": torch.randn(2, 3)}
        inputs = SampledInputs.infer(example)
        fresh = inputs.fresh("noise")
        assert not torch.equal(fresh["a"]["b"][0], example["a"]["b"][0])  # type: ignore[index]
        assert fresh["a"]["b"][1] is None
        assert set(inputs.unchanged) == {"a.b.1"}

    def test_rows_that_are_several_to_a_sample_scale_with_the_batch(self) -> None:
        example = {"input_ids": torch.tensor([[5], [6]]), "patches": torch.randn(8, 3)}
        assert SampledInputs.infer(example).fresh("noise", 5)["patches"].shape == (20, 3)

    def test_without_a_tensor_there_is_no_batch(self) -> None:
        with pytest.raises(ValueError, match="no input with a batch axis among use_cache"):
            SampledInputs.infer({"use_cache": True})


class TestInferredFromMasksOfOnes:
    """What transformers' own testers give, and what sdpa drops from a trace."""

    config = SimpleNamespace(vocab_size=99, pad_token_id=1, eos_token_id=EOS, image_token_id=IMAGE)

    def example(self, batch_size: int = 3, dtype: torch.dtype = torch.long) -> dict[str, Any]:
        ids = torch.arange(10, 10 + 7 * batch_size).view(batch_size, 7)
        mask = torch.ones(batch_size, 7, dtype=dtype)
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids % 2}

    @pytest.mark.parametrize("dtype", [torch.long, torch.bool, torch.float])
    @pytest.mark.parametrize("batch_size", [1, 2, 3])
    def test_the_trace_is_padded_on_the_right(self, batch_size: int, dtype: torch.dtype) -> None:
        traced = SampledInputs.infer(self.example(batch_size, dtype), self.config).traced()
        mask = traced["attention_mask"]
        assert mask.dtype is dtype
        assert not mask.all()
        assert mask.any(1).all()
        assert (mask.int().diff(dim=1) <= 0).all()

    def test_the_ids_have_the_pad_token_there_and_nothing_else_changes(self) -> None:
        example = self.example()
        traced = SampledInputs.infer(example, self.config).traced()
        real = traced["attention_mask"].bool()
        assert torch.equal(traced["input_ids"], example["input_ids"].masked_fill(~real, 1))
        assert torch.equal(traced["token_type_ids"], example["token_type_ids"])
        assert example["attention_mask"].all()

    def test_fresh_sets_are_padded_elsewhere_and_unpadded(self) -> None:
        inputs = SampledInputs.infer(self.example(), self.config)
        traced, noise = inputs.traced()["attention_mask"], inputs.fresh("noise")["attention_mask"]
        assert not noise.all()
        assert not torch.equal(noise, traced)
        assert inputs.fresh("unpadded")["attention_mask"].all()

    def test_a_mask_with_zeros_stays_beside_one_that_is_padded(self) -> None:
        example = self.example()
        example["attention_mask"][0, :2] = 0
        ids, ones = example["input_ids"] + 1, torch.ones(3, 7)
        example |= {"decoder_input_ids": ids, "decoder_attention_mask": ones}
        traced = SampledInputs.infer(example, self.config).traced()
        assert torch.equal(traced["attention_mask"], example["attention_mask"])
        assert torch.equal(traced["input_ids"], example["input_ids"])
        assert not traced["decoder_attention_mask"].all()
        padding = traced["decoder_attention_mask"] == 0
        assert torch.equal(traced["decoder_input_ids"] == 1, padding)

    def test_one_tensor_under_two_names_is_padded_as_two(self) -> None:
        example = self.example()
        example["decoder_attention_mask"] = example["attention_mask"]
        example["decoder_input_ids"] = example["input_ids"]
        traced = SampledInputs.infer(example, self.config).traced()
        for prefix in ("", "decoder_"):
            padding = traced[f"{prefix}attention_mask"] == 0
            assert torch.equal(traced[f"{prefix}input_ids"] == 1, padding)

    def test_tokens_that_every_sample_has_are_not_padded_away(self) -> None:
        """Bart looks for as many ends in every sample, a model of images for as many images."""
        example = self.example()
        example["input_ids"][:, 2:4] = IMAGE
        example["input_ids"][:, -1] = EOS
        inputs = SampledInputs.infer(example, self.config)
        for family, given in [("traced", inputs.traced()), *every_fresh(inputs)]:
            ids, lengths = given["input_ids"], given["attention_mask"].sum(1)
            assert (ids == IMAGE).sum(1).tolist() == [2, 2, 2], family
            assert (ids[torch.arange(3), lengths - 1] == EOS).all(), family

    def test_more_of_them_than_half_a_sample_leave_less_padding(self) -> None:
        example = self.example()
        example["input_ids"][:, :6] = IMAGE
        del example["token_type_ids"]  # alternates, as the only two masks do
        inputs = SampledInputs.infer(example, self.config)
        for family, given in [("traced", inputs.traced()), *every_fresh(inputs)]:
            assert (given["input_ids"] == IMAGE).sum(1).tolist() == [6, 6, 6], family

    def test_where_they_leave_none_the_mask_is_listed(self) -> None:
        example = self.example()
        example["input_ids"][:] = IMAGE
        inputs = SampledInputs.infer({**example, "x": torch.randn(3, 2)}, self.config)
        assert inputs.traced()["attention_mask"].all()
        assert "no room for padding" in inputs.unchanged["attention_mask"]

    @pytest.mark.parametrize("zeros", [0, 2])
    def test_positions_of_an_example_count_on_without_padding(self, zeros: int) -> None:
        example = self.example()
        example["attention_mask"][1, 7 - zeros :] = 0
        example["position_ids"] = torch.arange(7).repeat(3, 1)
        inputs = SampledInputs.infer(example, self.config)
        assert torch.equal(inputs.traced()["position_ids"], example["position_ids"])
        for family, fresh in every_fresh(inputs):
            same = torch.equal(fresh["position_ids"], example["position_ids"])
            assert same == (family == "unpadded"), family

    def test_choices_are_padded_each(self) -> None:
        example = {
            name: leaf.unsqueeze(1).repeat(1, 4, 1) for name, leaf in self.example().items()
        }
        traced = SampledInputs.infer(example, self.config).traced()
        assert len(set(traced["attention_mask"].sum(-1).flatten().tolist())) > 1
        assert torch.equal(traced["input_ids"] == 1, traced["attention_mask"] == 0)


# Axes


def test_axes_are_those_of_ids_masks_and_what_follows_them() -> None:
    domains = {
        **text_domains(),
        "bbox": Domain(Kind.BOXES, (LENGTH, 4), mask="attention_mask"),
        "decoder_input_ids": Domain(Kind.TOKENS, (8,), high=9, mask="decoder_attention_mask"),
        "decoder_attention_mask": Domain(Kind.MASK, (8,)),
        "x": waves(),
    }
    inputs = SampledInputs(domains)
    assert inputs.axes == {"length": LENGTH, "decoder_length": 8}
    fresh = inputs.fresh("noise", 3, {"length": 21})
    shapes = {path: tuple(leaf.shape) for path, leaf in fresh.items()}
    assert shapes == {
        "input_ids": (3, 21),
        "attention_mask": (3, 21),
        "token_type_ids": (3, 21),
        "bbox": (3, 21, 4),
        "decoder_input_ids": (3, 8),
        "decoder_attention_mask": (3, 8),
        "x": (3, 3, 8),
    }


@pytest.mark.parametrize("length", [12, 21])
def test_another_length_keeps_padding_and_what_every_sample_holds(length: int) -> None:
    inputs = SampledInputs(text_domains(runs=(Run((IMAGE,) * 4), Run((EOS,), Place.END))))
    fresh = inputs.fresh("noise", 4, {"length": length})
    ids, real = fresh["input_ids"], fresh["attention_mask"].bool()
    assert (ids == IMAGE).sum(1).tolist() == [4] * 4
    assert (ids == EOS).sum(1).tolist() == [1] * 4
    assert bool((ids[~real] == PAD).all())
    assert not bool(real.all())


def test_sides_of_pictures_and_sound_without_a_mask_are_axes() -> None:
    pictures = Domain(Kind.FLOAT, (3, 8, 6), dtype=torch.float32, mask="pixel_mask")
    sound = Domain(Kind.FLOAT, (80,), dtype=torch.float32, shortest=60)
    domains = {"pixel_values": pictures, "pixel_mask": Domain(Kind.AREA, (8, 6))}
    inputs = SampledInputs({**domains, "input_values": sound})
    assert inputs.axes == {"height": 8, "width": 6, "input_values_length": 80}
    fresh = inputs.fresh("noise", None, {"height": 11, "input_values_length": 60})
    assert fresh["pixel_values"].shape == (2, 3, 11, 6)
    assert fresh["pixel_mask"].shape == (2, 11, 6)
    assert fresh["input_values"].shape == (2, 60)


def test_an_axis_of_one_is_none() -> None:
    assert SampledInputs({"ids": Domain(Kind.TOKENS, (1,), high=9)}).axes == {}


def test_a_foreign_example_has_axes_too() -> None:
    inputs = SampledInputs.infer(TestInferred().example(), TestInferred.config)
    assert inputs.axes == {"length": 7, "height": 4, "width": 4}
    fresh = inputs.fresh("noise", 2, {"length": 9})
    assert {n: tuple(fresh[n].shape) for n in ("input_ids", "attention_mask")} == {
        "input_ids": (2, 9),
        "attention_mask": (2, 9),
    }
    assert fresh["use_cache"] is False
    with pytest.raises(KeyError, match="depth"):
        inputs.fresh("noise", 2, {"depth": 9})
