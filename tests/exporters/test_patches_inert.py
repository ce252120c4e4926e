"""A patched model computes on the CPU what the unpatched one does, mostly to the last bit."""

from __future__ import annotations

import pytest
import torch

from exporters.neuron.patches import PATCHES, trace_patches
from tests.exporters import patch_models as models

_OF_SPEAKERS = ("pooled_lengths",) if PATCHES["pooled_lengths"].is_of_use else ()
EXPECTED = (
    {
        name: ("weight_norm", *(_OF_SPEAKERS if name.endswith("ForXVector") else ()))
        for name in models.WEIGHT_NORMED
    }
    | dict.fromkeys(models.YOLOS, ("yolos",))
    | dict.fromkeys(models.CONVBERT, ("convbert",))
    | dict.fromkeys(models.MIXTRAL, ("experts",))
    | dict.fromkeys(models.PROPHETNET, ("prophetnet",) if PATCHES["prophetnet"].is_of_use else ())
    | dict.fromkeys(models.OTHERS, ())
)


def assert_inert(model_class: str) -> None:
    model, inputs = models.build(model_class), models.inputs_of(model_class)
    unpatched = models.run(model, inputs)
    before = models.Fingerprint(model)
    with trace_patches(model, inputs) as applied:
        patched = models.run(model, inputs)
    assert applied == EXPECTED[model_class]
    assert list(patched) == list(unpatched)
    assert unpatched
    tolerance = max((PATCHES[name].tolerance for name in applied), default=0.0)
    for path, value in unpatched.items():
        assert (patched[path] - value).abs().max().item() <= tolerance, path
    assert not before.differs(model)


@pytest.mark.parametrize("model_class", EXPECTED)
@pytest.mark.filterwarnings("ignore:The class `Wav2Vec2ForMaskedLM` is deprecated")
def test_max_abs_difference_is_what_the_patch_says(model_class: str) -> None:
    assert_inert(model_class)


@pytest.mark.parametrize("model_class", models.WEIGHT_NORMED)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_max_abs_difference_is_zero_with_the_old_form_of_weight_norm(
    model_class: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Transformers takes the old form where torch has no other.
    monkeypatch.delattr(torch.nn.utils.parametrizations, "weight_norm")
    assert any(name.endswith("weight_g") for name in models.build(model_class).state_dict())
    assert_inert(model_class)


@pytest.mark.parametrize("size", [(32, 48), (48, 32), (16, 16), (40, 72)])
@pytest.mark.parametrize("model_class", models.YOLOS)
def test_yolos_is_exact_at_every_image_size(model_class: str, size: tuple[int, int]) -> None:
    model, inputs = models.build(model_class), models.inputs_of(model_class, size)
    unpatched = models.run(model, inputs)
    with trace_patches(model, inputs):
        patched = models.run(model, inputs)
    assert all(torch.equal(patched[path], value) for path, value in unpatched.items())


@pytest.mark.parametrize("kernel", [1, 3, 7, 9])
def test_convbert_is_exact_for_other_kernels(kernel: int, monkeypatch: pytest.MonkeyPatch) -> None:
    config = models.CONFIGS["convbert"] | {"conv_kernel_size": kernel}
    monkeypatch.setitem(models.CONFIGS, "convbert", config)
    assert_inert("ConvBertModel")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
@pytest.mark.parametrize("model_class", ["Wav2Vec2Model", "YolosModel", "ConvBertModel"])
def test_other_dtypes_are_exact(model_class: str, dtype: torch.dtype) -> None:
    model = models.build(model_class).to(dtype)
    inputs = {
        name: value.to(dtype) if value.is_floating_point() else value
        for name, value in models.inputs_of(model_class).items()
    }
    unpatched = models.run(model, inputs)
    with trace_patches(model, inputs):
        patched = models.run(model, inputs)
    assert all(torch.equal(patched[path], value) for path, value in unpatched.items())
