"""Patches of what a model decides by its inputs' values: the same on the CPU, for all values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers", minversion="4.57", exc_type=ImportError)

from torch import nn  # noqa: E402

from exporters.neuron.patches.covered_patches import COVERED_PATCHES, combined  # noqa: E402
from exporters.neuron.patches.image_tokens import IMAGE_TOKENS  # noqa: E402
from exporters.neuron.patches.language_cache import LANGUAGE_CACHE  # noqa: E402
from exporters.neuron.patches.pooled_lengths import _First  # noqa: E402
from exporters.neuron.patches.rebinding import rebind  # noqa: E402
from exporters.neuron.patches.skipped_masks import SKIPPED_MASKS  # noqa: E402
from exporters.neuron.patches.special_tokens import phrases  # noqa: E402

NEEDED = pytest.mark.skipif(
    not COVERED_PATCHES.is_of_use, reason=f"the patches are for {COVERED_PATCHES.requires}"
)


@NEEDED
@pytest.mark.parametrize("seed", range(30))
def test_phrases_end_where_the_loop_over_special_tokens_ends_them(seed: int) -> None:
    from transformers.models.grounding_dino import modeling_grounding_dino as modeling

    torch.manual_seed(seed)
    special = torch.tensor([*modeling.SPECIAL_TOKENS, 1, 2, 3, 4])
    ids = special[torch.randint(0, 8, (3, 9))]
    # Otherwise a phrase may begin behind its end, which the loop refuses.
    ids[:, 0] = 101
    found = phrases(ids, modeling.SPECIAL_TOKENS)
    wanted = modeling.generate_masks_with_special_tokens_and_transfer_map(ids)
    assert torch.equal(found[0], wanted[0])
    assert torch.equal(found[1], wanted[1])


@NEEDED
def test_a_phrase_begins_behind_the_last_token_of_the_sequence_before() -> None:
    from transformers.models.grounding_dino import modeling_grounding_dino as modeling

    ids = torch.tensor([[1, 102, 1, 1, 1, 1], [1, 1, 1, 1029, 1, 1]])
    found = phrases(ids, modeling.SPECIAL_TOKENS)
    wanted = modeling.generate_masks_with_special_tokens_and_transfer_map(ids)
    assert torch.equal(found[0], wanted[0])
    assert torch.equal(found[1], wanted[1])


@NEEDED
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("max_len", [0, 20])
def test_words_and_patches_are_joined_as_page_by_page(seed: int, max_len: int) -> None:
    from transformers.models.udop import modeling_udop as modeling

    torch.manual_seed(seed)
    boxes = torch.rand(2, 7, 4)
    boxes[:, 0], boxes[:, -1] = 0.0, 1.0
    patches, words = torch.randn(2, 16, 5), torch.randn(2, 7, 5)
    mask = (torch.rand(2, 7) > 0.3).long()
    rest = (boxes, None, mask, 4, max_len, 32, 8)
    wanted = modeling.combine_image_text_embeddings(patches, words.clone(), *rest)
    found = combined(modeling.get_visual_bbox, patches, words.clone(), *rest)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=0, rtol=0)


@pytest.mark.parametrize("stop", [9, 5, 2, 1, 0, -3, -9])
def test_the_first_frames_are_pooled_as_a_slice_of_them(stop: int) -> None:
    states = torch.randn(7, 3)
    first = _First(states, torch.tensor(stop))
    for found, wanted in (
        (first.mean(0), states[:stop].mean(0)),
        (first.std(0), states[:stop].std(0)),
    ):
        torch.testing.assert_close(found, wanted, equal_nan=True)


def doge() -> nn.Module:
    from transformers import DogeConfig, DogeModel

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1}
    heads = dict.fromkeys(("num_attention_heads", "num_key_value_heads"), 2)
    model: nn.Module = DogeModel(DogeConfig(vocab_size=50, **sizes, **heads)).eval()
    return model


@NEEDED
@pytest.mark.parametrize("padding", [0, 3])
def test_a_mask_that_would_be_left_out_masks_nothing(
    padding: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import masking_utils

    model, ids = doge(), torch.randint(3, 50, (2, 8))
    mask = torch.ones_like(ids)
    mask[0, :padding] = 0
    wanted = model(input_ids=ids, attention_mask=mask).last_hidden_state
    SKIPPED_MASKS.apply(SKIPPED_MASKS.find(model), {})
    ignores = masking_utils._ignore_causal_mask_sdpa

    def never_by_value(padding_mask: Any, *args: Any, **kwargs: Any) -> bool:
        # As the trace answers `padding_mask.all()`.
        skips: bool = padding_mask is None and ignores(padding_mask, *args, **kwargs)
        return skips

    monkeypatch.setattr(masking_utils, "_ignore_causal_mask_sdpa", never_by_value)
    found = model(input_ids=ids, attention_mask=mask).last_hidden_state
    kept = mask.bool()
    torch.testing.assert_close(found[kept], wanted[kept], atol=1e-6, rtol=0)


class Table(nn.Module):
    """Looks codes up in a table on the CPU, as Chameleon does."""

    class Mapping:
        def convert_img2bpe(self, codes: torch.Tensor) -> torch.Tensor:
            table = torch.arange(10, dtype=torch.int) * 2
            ends = torch.ones((len(codes), 1), dtype=torch.int)
            return torch.cat([table[codes.to("cpu")], ends], dim=-1).to(codes.device)

    vocabulary_mapping = Mapping()

    def get_image_tokens(self, codes: torch.Tensor) -> torch.Tensor:
        return self.vocabulary_mapping.convert_img2bpe(codes)

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        return self.get_image_tokens(codes)


def test_codes_are_looked_up_where_they_are() -> None:
    model = Table()
    assert IMAGE_TOKENS.find(model) == [model]
    IMAGE_TOKENS.apply([model], {})
    assert model(torch.zeros(2, 3, dtype=torch.long, device="meta")).device.type == "meta"
    assert model(torch.tensor([[3, 1]])).tolist() == [[6, 2, 1]]


def number() -> int:
    return 1


def doubled(function: Callable[..., int]) -> Callable[..., int]:
    import functools

    @functools.wraps(function)
    def wrapper(self: Any) -> int:
        return 2 * function(self)

    return wrapper


class Decorated(nn.Module):
    @doubled
    def forward(self) -> int:
        return number()


def test_a_function_is_replaced_under_decorators_and_for_one_module_only() -> None:
    one, other = Decorated(), Decorated()
    rebind(one, "forward", {"number": lambda original: lambda: original() + 20})
    assert one() == 42
    assert other() == 2


class Cached(nn.Module):
    """Keeps what it made by a key, as OmDet-Turbo does; a part of it has the method alone."""

    def __init__(self) -> None:
        from transformers.models.omdet_turbo.modeling_omdet_turbo import OmDetTurboLRUCache

        super().__init__()
        self.language_cache_class = OmDetTurboLRUCache(3)
        self.language_cache_prompt = OmDetTurboLRUCache(3)
        self.part = nn.Module()


def test_nothing_is_in_the_cache_of_a_trace() -> None:
    model = Cached()
    before = model.language_cache_class
    before.put("key", 1)
    assert LANGUAGE_CACHE.find(model) == [model]
    LANGUAGE_CACHE.apply([model], {})
    key = vars(model)["_get_cache_key_at_index"](None, None, 0)
    assert not model.language_cache_class.has(key)
    assert not model.language_cache_class.has("key")
    assert before.has("key")
