"""Last tokens gathered, and positions of patches computed at once: the same, for every mask."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from transformers import BartConfig, BartForSequenceClassification
from transformers.models.idefics2 import modeling_idefics2
from transformers.models.idefics2.configuration_idefics2 import Idefics2VisionConfig

from exporters.base import Selection
from exporters.neuron.patches import trace_patches
from exporters.neuron.patches.patch_positions import PATCH_POSITIONS
from tests.exporters import patch_models as models

END = 2
NEEDED = pytest.mark.skipif(
    not PATCH_POSITIONS.is_of_use, reason=f"the patch is for {PATCH_POSITIONS.requires}"
)


def bart() -> nn.Module:
    torch.manual_seed(0)
    sizes = dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 24)
    layers = dict.fromkeys(("encoder_layers", "decoder_layers"), 1)
    heads = dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 2)
    config = BartConfig(vocab_size=50, d_model=16, eos_token_id=END, **sizes, **layers, **heads)
    return BartForSequenceClassification(config).eval()


@pytest.mark.parametrize("places", [([4], [7]), ([7], [0]), ([1, 5], [6, 7]), ([0, 1], [0, 7])])
def test_the_last_end_of_each_sequence_is_classified(places: tuple[list[int], ...]) -> None:
    model, ids = bart(), torch.randint(3, 50, (2, 8))
    for row, ends in enumerate(places):
        ids[row, ends] = END
    unpatched = models.run(model, {"input_ids": ids})
    before = models.Fingerprint(model)
    with trace_patches(model, {}, Selection.parse("last_token")) as applied:
        patched = models.run(model, {"input_ids": ids})
    assert applied == ("last_token",)
    assert torch.equal(patched["logits"], unpatched["logits"])
    assert not before.differs(model)


def test_no_shape_depends_on_how_many_ends_there_are() -> None:
    # Unpatched, sequences with 1 and with 2 are refused: they have no common shape.
    model, ids = bart(), torch.randint(3, 50, (2, 8))
    ids[0, 4], ids[1, 5], ids[1, 7] = END, END, END
    alone = [models.run(model, {"input_ids": row})["logits"] for row in ids.split(1)]
    with pytest.raises(ValueError, match="same number of <eos> tokens"):
        models.run(model, {"input_ids": ids})
    with trace_patches(model, {}, Selection.parse("last_token")):
        together = models.run(model, {"input_ids": ids})["logits"]
    torch.testing.assert_close(together, torch.cat(alone))


def embeddings(side: int) -> Any:
    torch.manual_seed(0)
    config = Idefics2VisionConfig(hidden_size=8, image_size=4 * side, patch_size=4)
    return modeling_idefics2.Idefics2VisionEmbeddings(config).eval()


def mask_of(*sizes: tuple[int, int], rows: int, columns: int) -> torch.Tensor:
    mask = torch.zeros(len(sizes), rows, columns, dtype=torch.bool)
    for image, (height, width) in zip(mask, sizes, strict=True):
        image[:height, :width] = True
    return mask


@NEEDED
@pytest.mark.parametrize("side", [2, 3, 8, 70])
@pytest.mark.parametrize("sizes", [((5, 7), (1, 1)), ((3, 2), (5, 7)), ((4, 7), (2, 6))])
def test_patches_get_the_positions_of_their_image(
    side: int, sizes: tuple[tuple[int, int], ...]
) -> None:
    module, mask = embeddings(side), mask_of(*sizes, rows=5, columns=7)
    pixels = torch.randn(2, 3, 20, 28)
    with torch.no_grad():
        expected = module(pixels, mask)
        with trace_patches(module, {}, Selection.parse("patch_positions")) as applied:
            found = module(pixels, mask)
    assert applied == ("patch_positions",)
    assert torch.equal(found, expected)


@NEEDED
def test_no_shape_depends_on_the_images_own_sizes() -> None:
    module = embeddings(4).to("meta")
    pixels = torch.zeros(2, 3, 20, 28, device="meta")
    mask = torch.zeros(2, 5, 7, dtype=torch.bool, device="meta")
    with trace_patches(module, {}, Selection.parse("patch_positions")):
        assert module(pixels, mask).shape == (2, 35, 8)
