"""YOLOS: which embeddings are interpolated, to which sizes, and from which weights."""

from __future__ import annotations

import pytest
import torch

from exporters.neuron.patches import PatchNotCoveredError, trace_patches
from tests.exporters import patch_models as models

BOTH = {
    "embeddings.interpolation.interpolated_40x64": (1, 46, 16),
    "encoder.interpolation.interpolated_40x64": (2, 1, 46, 16),
}


def test_both_interpolations_are_buffers_named_by_the_image_size() -> None:
    # 40 x 64 pixels in patches of 8 are 40, with the class token and 5 detection tokens 46.
    model = models.build("YolosModel")
    with trace_patches(model, models.inputs_of("YolosModel")):
        buffers = {name: tuple(value.shape) for name, value in model.named_buffers()}
    assert buffers == BOTH


def test_without_mid_position_embeddings_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    config = models.CONFIGS["yolos"] | {"use_mid_position_embeddings": False}
    monkeypatch.setitem(models.CONFIGS, "yolos", config)
    model, inputs = models.build("YolosModel"), models.inputs_of("YolosModel")
    unpatched = models.run(model, inputs)
    with trace_patches(model, inputs) as applied:
        assert applied == ("yolos",)
        assert list(dict(model.named_buffers())) == [next(iter(BOTH))]
        patched = models.run(model, inputs)
    assert all(torch.equal(patched[path], value) for path, value in unpatched.items())


@pytest.mark.parametrize("wrap", [dict, lambda d: tuple(d.values()), lambda d: d["pixel_values"]])
def test_inputs_may_be_a_mapping_a_tuple_or_a_tensor(wrap: object) -> None:
    # torch_neuronx.trace takes a tensor or a tuple.
    model, inputs = models.build("YolosModel"), models.inputs_of("YolosModel")
    with trace_patches(model, wrap(inputs)):  # type: ignore[operator]
        assert set(BOTH) <= set(models.named_tensors(model))


def test_several_sizes_among_the_inputs_are_all_served() -> None:
    model = models.build("YolosModel")
    several = [models.inputs_of("YolosModel", size) for size in ((40, 64), (16, 32))]
    unpatched = [models.run(model, inputs) for inputs in several]
    with trace_patches(model, several):
        patched = [models.run(model, inputs) for inputs in several]
    for before, after in zip(unpatched, patched, strict=True):
        assert all(torch.equal(after[path], value) for path, value in before.items())


def test_the_values_are_a_snapshot_of_the_weights() -> None:
    model, inputs = models.build("YolosModel"), models.inputs_of("YolosModel")
    with trace_patches(model, inputs):
        value = model.embeddings.interpolation.interpolated_40x64
        kept = value.clone()
        with torch.no_grad():
            model.embeddings.position_embeddings.zero_()
        assert torch.equal(value, kept)


def test_another_image_size_than_that_of_the_inputs_raises() -> None:
    model = models.build("YolosModel")
    with (
        trace_patches(model, models.inputs_of("YolosModel", (40, 64))),
        pytest.raises(PatchNotCoveredError, match=r"\(16, 32\) are asked for, and only .*40x64"),
    ):
        models.run(model, models.inputs_of("YolosModel", (16, 32)))


def test_inputs_without_an_image_are_refused_and_nothing_remains() -> None:
    model = models.build("YolosModel")
    before = models.Fingerprint(model)
    with (
        pytest.raises(PatchNotCoveredError, match="no input is an image batch of 3 channels"),
        trace_patches(model, {"pixel_values": torch.zeros(2, 40, 64)}),
    ):
        pytest.fail("entered")
    assert not before.differs(model)
