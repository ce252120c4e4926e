"""Inputs of text: ids, masks, segments, positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from testing.inputs.domains import Domain, Kind, Place, Run
from testing.tiny.forward import Forward
from testing.tiny.rules.placeholders import placeholder_runs
from testing.tiny.rules.sound import SAMPLES, SHORTEST_SOUND, pads_with_silence

__all__ = ["RULES", "TARGET_LENGTH", "TEXT_LENGTH", "edge_run", "text_shape", "tokens"]

TEXT_LENGTH: Final = 16
TARGET_LENGTH: Final = 8
CHOICES: Final = 2
# Heads that read one token's state make their decoder's ids from the encoder's themselves.
_OWN_DECODER_IDS: Final = ("ForSequenceClassification", "ForQuestionAnswering")
# Models that look for the end of the text.
_ENDS: Final = ("clip",)


def text_shape(forward: Forward) -> tuple[int, ...]:
    """Shape of a text without its batch axis: 16 tokens beside what stands for images or sound."""
    choices = (CHOICES,) if forward.name.endswith("ForMultipleChoice") else ()
    return (*choices, TEXT_LENGTH + _placeholders(forward))


def tokens(
    forward: Forward, shape: tuple[int, ...], mask: str, runs: tuple[Run, ...] = ()
) -> Domain:
    """Ids of the text vocabulary.

    Args:
        forward: The model's forward.
        shape: Shape without the batch axis.
        mask: Name of the mask whose padding the ids follow, when the forward takes it.
        runs: Special tokens that every sample has.
    """
    pad = getattr(forward.text_config, "pad_token_id", None)
    return Domain(
        Kind.TOKENS,
        shape,
        high=int(forward.text_config.vocab_size),
        excluded=frozenset(forward.special.values()),
        pad=0 if pad is None else pad,
        mask=mask if mask in forward.parameters else None,
        runs=runs,
    )


def edge_run(forward: Forward, name: str, place: Place) -> tuple[Run, ...]:
    """A run of one special token, where the configuration has it."""
    token = getattr(forward.text_config, name, None)
    return (Run((token,), place),) if isinstance(token, int) else ()


def _placeholders(forward: Forward) -> int:
    return sum(len(run.tokens) for run in placeholder_runs(forward))


def _input_ids(forward: Forward) -> Domain:
    ends = forward.is_encoder_decoder or forward.model_type in _ENDS
    runs = edge_run(forward, "eos_token_id", Place.END) if ends else ()
    return tokens(
        forward, text_shape(forward), "attention_mask", (*runs, *placeholder_runs(forward))
    )


def _attention_mask(forward: Forward) -> Domain | None:
    if "input_ids" in forward.parameters:
        shortest = TEXT_LENGTH // 2 + _placeholders(forward)
        return Domain(Kind.MASK, text_shape(forward), shortest=shortest)
    if "input_values" in forward.parameters and not pads_with_silence(forward):
        return Domain(Kind.MASK, (SAMPLES,), shortest=SHORTEST_SOUND)
    return None


def _token_type_ids(forward: Forward) -> Domain | None:
    types = getattr(forward.text_config, "type_vocab_size", None) or 0
    return Domain(Kind.INDEX, text_shape(forward), high=types) if types > 1 else None


def _position_ids(forward: Forward) -> Domain | None:
    if not forward.is_decoder_only:
        return None
    return Domain(Kind.POSITIONS, text_shape(forward), mask="attention_mask")


def _decoder_input_ids(forward: Forward) -> Domain | None:
    if _makes_own_decoder_ids(forward):
        return None
    runs = edge_run(forward, "decoder_start_token_id", Place.START)
    return tokens(forward, (TARGET_LENGTH,), "decoder_attention_mask", runs)


def _decoder_attention_mask(forward: Forward) -> Domain | None:
    return None if _makes_own_decoder_ids(forward) else Domain(Kind.MASK, (TARGET_LENGTH,))


def _makes_own_decoder_ids(forward: Forward) -> bool:
    is_text = "pixel_values" not in forward.parameters
    return is_text and forward.name.endswith(_OWN_DECODER_IDS)


RULES: Final[Mapping[str, Callable[[Forward], Domain | None]]] = {
    "input_ids": _input_ids,
    "attention_mask": _attention_mask,
    "token_type_ids": _token_type_ids,
    "position_ids": _position_ids,
    "decoder_input_ids": _decoder_input_ids,
    "decoder_attention_mask": _decoder_attention_mask,
}
