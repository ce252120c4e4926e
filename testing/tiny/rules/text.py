"""Inputs of text: ids, masks, segments, positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from testing.inputs.domains import Domain, Kind, Place, Run
from testing.tiny.forward import Forward, makes_own_decoder_ids
from testing.tiny.rules.placeholders import placeholder_runs
from testing.tiny.rules.sound import mask_name, sound_mask

__all__ = ["RULES", "TARGET_LENGTH", "TEXT_LENGTH", "edge_run", "text_shape", "tokens"]

TEXT_LENGTH: Final = 16
TARGET_LENGTH: Final = 8
CHOICES: Final = 2
ENTITIES: Final = 4
MENTION: Final = 5
# CANINE has no vocabulary: its ids are characters, here those below the surrogates.
_CHARACTERS: Final = 0xD800
# Their users give the words alone; a model with another head is asked about entities in them.
_HEADS_OF_WORDS: Final = (
    "ForMultipleChoice",
    "ForQuestionAnswering",
    "ForSequenceClassification",
    "ForTokenClassification",
)
# Heads that take a question and a text.
_PAIRS: Final = ("ForQuestionAnswering", "ForMultipleChoice")
# Models that look for the end of the text.
_ENDS: Final = ("clip",)


def text_shape(forward: Forward) -> tuple[int, ...]:
    """Shape of a text without its batch axis: 16 tokens beside what stands for images or sound."""
    choices = (CHOICES,) if forward.name.endswith("ForMultipleChoice") else ()
    return (*choices, TEXT_LENGTH + _placeholders(forward))


def tokens(
    forward: Forward,
    shape: tuple[int, ...],
    mask: str,
    runs: tuple[Run, ...] = (),
    size: int | None = None,
) -> Domain:
    """Ids of the text vocabulary.

    Args:
        forward: The model's forward.
        shape: Shape without the batch axis.
        mask: Name of the mask whose padding the ids follow, when the forward takes it.
        runs: Special tokens that every sample has.
        size: Of the vocabulary, where it is not the text's.
    """
    pad = getattr(forward.text_config, "pad_token_id", None)
    return Domain(
        Kind.TOKENS,
        shape,
        high=size or _vocabulary(forward.text_config, "src_vocab_size"),
        # A placeholder stands nowhere else, also where no configuration names it.
        excluded=frozenset([*forward.special.values(), *(t for run in runs for t in run.tokens)]),
        pad=0 if pad is None else pad,
        mask=mask if mask in forward.parameters else None,
        runs=runs,
    )


def edge_run(forward: Forward, name: str, place: Place) -> tuple[Run, ...]:
    """A run of one special token, where the configuration has it."""
    token = getattr(forward.text_config, name, None)
    return (Run((token,), place),) if isinstance(token, int) else ()


def _vocabulary(config: Any, own_name: str) -> int:
    """Size of a vocabulary, which FSMT has two of."""
    names = (own_name, "vocab_size")
    sizes = (getattr(config, name, None) for name in names)
    return next((size for size in sizes if size), _CHARACTERS)


def _placeholders(forward: Forward) -> int:
    return sum(len(run.tokens) for run in placeholder_runs(forward))


def _input_ids(forward: Forward) -> Domain:
    runs = (*_looked_for(forward), *placeholder_runs(forward))
    return tokens(forward, text_shape(forward), "attention_mask", runs)


def _looked_for(forward: Forward) -> Iterator[Run]:
    """Special tokens that a model looks for in its text."""
    if forward.is_encoder_decoder or forward.model_type in _ENDS:
        yield from edge_run(forward, "eos_token_id", Place.END)
    # Splinter's: it answers for the place where it stands.
    yield from edge_run(forward, "question_token_id", Place.ANYWHERE)
    if forward.model_type == "longformer" and forward.name.endswith(_PAIRS):
        # It attends globally from all before the second of exactly three.
        separator = forward.config.sep_token_id
        yield Run((separator, separator))
        yield Run((separator,), Place.END)


def _attention_mask(forward: Forward) -> Domain | None:
    if mask_name(forward) == "attention_mask":
        return sound_mask(forward)
    if "input_ids" not in forward.parameters:
        return None
    shortest = TEXT_LENGTH // 2 + _placeholders(forward)
    return Domain(Kind.MASK, text_shape(forward), shortest=shortest)


def _token_type_ids(forward: Forward) -> Domain | None:
    kinds = getattr(forward.text_config, "type_vocab_sizes", None)
    if kinds:
        # TAPAS: the segment of each token, its column and row, and ranks in them.
        return Domain(Kind.INDEX, (*text_shape(forward), len(kinds)), high=min(kinds))
    types = getattr(forward.text_config, "type_vocab_size", None) or 0
    return Domain(Kind.INDEX, text_shape(forward), high=types) if types > 1 else None


def _position_ids(forward: Forward) -> Domain | None:
    # From the grids of images come three rows of positions, which one row given would replace.
    if not forward.is_decoder_only or "image_grid_thw" in forward.parameters:
        return None
    return Domain(Kind.POSITIONS, text_shape(forward), mask="attention_mask")


def _decoder_input_ids(forward: Forward) -> Domain | None:
    if makes_own_decoder_ids(type(forward.model)):
        return None
    runs = edge_run(forward, "decoder_start_token_id", Place.START)
    size = _vocabulary(_decoder_config(forward), "tgt_vocab_size")
    return tokens(forward, (TARGET_LENGTH,), "decoder_attention_mask", runs, size)


def _decoder_config(forward: Forward) -> Any:
    """The configuration with the decoder's vocabulary."""
    parts = (getattr(forward.config, name, None) for name in ("decoder_config", "decoder"))
    return next((p for p in parts if hasattr(p, "vocab_size")), forward.text_config)


def _decoder_attention_mask(forward: Forward) -> Domain | None:
    # Detectors with a mask of their queries have no ids.
    own = not forward.is_encoder_decoder or makes_own_decoder_ids(type(forward.model))
    return None if own else Domain(Kind.MASK, (TARGET_LENGTH,))


def _pair_ids(forward: Forward, part: str) -> Domain:
    """One side of RetriBERT's pairs of question and document."""
    return tokens(forward, text_shape(forward), f"attention_mask_{part}")


def _pair_mask(forward: Forward) -> Domain:
    return Domain(Kind.MASK, text_shape(forward))


def _reading(forward: Forward, sizes: str) -> Domain:
    """RoCBert's ids of what each token looks or sounds like."""
    size = getattr(forward.config, sizes)
    return tokens(forward, text_shape(forward), "attention_mask", size=size)


def _xpath(forward: Forward, sizes: str) -> Domain:
    """MarkupLM's path of each token in its document: a tag or subscript for each level."""
    shape = (*text_shape(forward), forward.config.max_depth)
    return Domain(Kind.INDEX, shape, high=getattr(forward.config, sizes))


def _entities(forward: Forward, domain: Domain) -> Domain | None:
    return None if forward.name.endswith(_HEADS_OF_WORDS) else domain


def _entity_ids(forward: Forward) -> Domain | None:
    mask, size = "entity_attention_mask", forward.config.entity_vocab_size
    return _entities(forward, tokens(forward, (ENTITIES,), mask, size=size))


def _entity_position_ids(forward: Forward) -> Domain | None:
    """Places of each entity's words in the text; -1 pads them."""
    shape = (ENTITIES, MENTION)
    return _entities(forward, Domain(Kind.INDEX, shape, low=-1, high=TEXT_LENGTH))


RULES: Final[Mapping[str, Callable[[Forward], Domain | None]]] = {
    "input_ids": _input_ids,
    "attention_mask": _attention_mask,
    "token_type_ids": _token_type_ids,
    "position_ids": _position_ids,
    "decoder_input_ids": _decoder_input_ids,
    "decoder_attention_mask": _decoder_attention_mask,
    "input_ids_query": lambda forward: _pair_ids(forward, "query"),
    "attention_mask_query": _pair_mask,
    "input_ids_doc": lambda forward: _pair_ids(forward, "doc"),
    "attention_mask_doc": _pair_mask,
    "input_shape_ids": lambda forward: _reading(forward, "shape_vocab_size"),
    "input_pronunciation_ids": lambda forward: _reading(forward, "pronunciation_vocab_size"),
    "xpath_tags_seq": lambda forward: _xpath(forward, "max_xpath_tag_unit_embeddings"),
    "xpath_subs_seq": lambda forward: _xpath(forward, "max_xpath_subs_unit_embeddings"),
    "entity_ids": _entity_ids,
    "entity_attention_mask": lambda f: _entities(f, Domain(Kind.MASK, (ENTITIES,))),
    "entity_token_type_ids": lambda f: _entities(f, Domain(Kind.INDEX, (ENTITIES,))),
    "entity_position_ids": _entity_position_ids,
}
