"""Which inputs a class takes and what they may be, from the signature of its forward.

A class is given what it requires, its main input, and what its users pass besides: masks,
segments, decoder ids. Optional inputs that switch off the path users are on are left out:
`position_ids` of encoders (the default counts real tokens itself), embeddings in place of ids,
head masks, labels.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import torch

from testing import auto_classes
from testing.inputs.domains import Domain, Kind, Place, Run
from testing.inputs.inferring import special_tokens
from testing.tiny.errors import NoTinyModelError
from testing.tiny.exceptions import omitted_of, shape_of

__all__ = ["input_domains"]

TEXT_LENGTH: Final = 16
TARGET_LENGTH: Final = 8
CHOICES: Final = 2
# 24 frames of a wav2vec 2.0 encoder, of which the x-vector head's convolutions take 14.
SAMPLES: Final = 8000
SHORTEST_SOUND: Final = 6500
# Heads that read one token's state make their decoder's ids from the encoder's themselves.
_OWN_DECODER_IDS: Final = ("ForSequenceClassification", "ForQuestionAnswering")
# Models that look for the end of the text.
_ENDS: Final = ("clip",)


def input_domains(model_class: Any, config: Any) -> dict[str, Domain]:
    """The domain of each input that a tiny model of `model_class` is given, by name.

    Raises:
        NoTinyModelError: The forward requires an input for which there is no rule.
    """
    signature = _Signature(model_class, config)
    domains = {name: signature.domain(name) for name in signature.names}
    missing = [n for n in signature.required if domains.get(n) is None]
    if missing:
        name = model_class.__name__
        raise NoTinyModelError(f"{name} requires {', '.join(missing)}: no rule makes it")
    return {name: domain for name, domain in domains.items() if domain is not None}


@dataclass
class _Signature:
    """The forward of one class, and the configuration that its inputs must fit."""

    model_class: Any
    config: Any

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.model_class.forward).parameters

    @property
    def name(self) -> str:
        return str(self.model_class.__name__)

    @property
    def names(self) -> list[str]:
        """Parameters that have a rule, in the forward's order, and those it requires."""
        omitted = omitted_of(self.config.model_type, self.name)
        known = [name for name in self.parameters if name in _RULES or name in self.required]
        return [name for name in known if name not in omitted]

    @property
    def required(self) -> list[str]:
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        return [
            name
            for name, parameter in self.parameters.items()
            if parameter.default is parameter.empty and parameter.kind in named and name != "self"
        ]

    @cached_property
    def text_config(self) -> Any:
        return getattr(self.config, "text_config", None) or self.config

    @cached_property
    def vision_config(self) -> Any:
        return getattr(self.config, "vision_config", None) or self.config

    @cached_property
    def special(self) -> Mapping[str, int]:
        return special_tokens(self.config)

    @property
    def is_encoder_decoder(self) -> bool:
        return "decoder_input_ids" in self.parameters

    @property
    def is_decoder_only(self) -> bool:
        """Whether the model type generates and is not an encoder with a decoder's class."""
        if self.is_encoder_decoder or "past_key_values" not in self.parameters:
            return False
        classes = auto_classes.classes_of(self.config.model_type)
        masked = any(name.endswith("ForMaskedLM") for name in classes)
        return not masked and any(
            name.endswith(("ForCausalLM", "LMHeadModel")) for name in classes
        )

    @property
    def text_shape(self) -> tuple[int, ...]:
        choices = (CHOICES,) if self.name.endswith("ForMultipleChoice") else ()
        return (*choices, TEXT_LENGTH)

    def domain(self, name: str) -> Domain | None:
        """The domain of an input; None where the class is not given it."""
        rule = _RULES.get(name)
        return rule(self) if rule else None

    def tokens(self, shape: tuple[int, ...], mask: str, runs: tuple[Run, ...]) -> Domain:
        """Ids of the text vocabulary; `runs` are special tokens that every sample has."""
        vocabulary = int(self.text_config.vocab_size)
        pad = getattr(self.text_config, "pad_token_id", None)
        return Domain(
            Kind.TOKENS,
            shape,
            high=vocabulary,
            excluded=frozenset(self.special.values()),
            pad=0 if pad is None else pad,
            mask=mask if mask in self.parameters else None,
            runs=runs,
        )

    def token(self, name: str, place: Place) -> tuple[Run, ...]:
        """A run of one special token, where the configuration has it."""
        token = getattr(self.text_config, name, None)
        return (Run((token,), place),) if isinstance(token, int) else ()


def _input_ids(forward: _Signature) -> Domain:
    ends = forward.is_encoder_decoder or forward.config.model_type in _ENDS
    runs = forward.token("eos_token_id", Place.END) if ends else ()
    return forward.tokens(forward.text_shape, "attention_mask", runs)


def _attention_mask(forward: _Signature) -> Domain | None:
    if "input_ids" in forward.parameters:
        return Domain(Kind.MASK, forward.text_shape)
    if "input_values" in forward.parameters and not _pads_with_silence(forward):
        return Domain(Kind.MASK, (SAMPLES,), shortest=SHORTEST_SOUND)
    return None


def _pads_with_silence(forward: _Signature) -> bool:
    """Whether a speech model wants no mask, only zeros at the end.

    transformers' documentation of wav2vec 2.0 and its kin: where the processor does not return a
    mask, none should be passed; that is so for the checkpoints with a group norm over time, the
    default configuration.
    """
    return getattr(forward.config, "feat_extract_norm", None) == "group"


def _token_type_ids(forward: _Signature) -> Domain | None:
    types = getattr(forward.text_config, "type_vocab_size", None) or 0
    return Domain(Kind.INDEX, forward.text_shape, high=types) if types > 1 else None


def _position_ids(forward: _Signature) -> Domain | None:
    if not forward.is_decoder_only:
        return None
    return Domain(Kind.POSITIONS, forward.text_shape, mask="attention_mask")


def _decoder_input_ids(forward: _Signature) -> Domain | None:
    if _makes_own_decoder_ids(forward):
        return None
    runs = forward.token("decoder_start_token_id", Place.START)
    return forward.tokens((TARGET_LENGTH,), "decoder_attention_mask", runs)


def _decoder_attention_mask(forward: _Signature) -> Domain | None:
    return None if _makes_own_decoder_ids(forward) else Domain(Kind.MASK, (TARGET_LENGTH,))


def _makes_own_decoder_ids(forward: _Signature) -> bool:
    is_text = "pixel_values" not in forward.parameters
    return is_text and forward.name.endswith(_OWN_DECODER_IDS)


def _pixel_values(forward: _Signature) -> Domain:
    declared = shape_of(forward.config.model_type, "pixel_values")
    if declared:
        return _floats(declared)
    channels = getattr(forward.vision_config, "num_channels", 3)
    return _floats((channels, *_image_size(forward.vision_config)))


def _image_size(config: Any) -> tuple[int, int]:
    size = getattr(config, "image_size", 64)
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    return int(height), int(width)


def _bool_masked_pos(forward: _Signature) -> Domain | None:
    """Masked patches, for the classes that predict them."""
    if not forward.name.endswith("ForMaskedImageModeling"):
        return None
    height, width = _image_size(forward.config)
    patch = forward.config.patch_size
    return Domain(Kind.BOOL, ((height // patch) * (width // patch),), dtype=torch.bool)


def _input_values(forward: _Signature) -> Domain:
    bins = getattr(forward.config, "num_mel_bins", None)
    if bins is not None:
        return _floats((forward.config.max_length, bins))
    return _floats((SAMPLES,), mask="attention_mask", shortest=SHORTEST_SOUND)


def _input_features(forward: _Signature) -> Domain:
    return _floats((forward.config.num_mel_bins, 2 * forward.config.max_source_positions))


def _floats(
    shape: tuple[int, ...], mask: str | None = None, shortest: int | None = None
) -> Domain:
    """Features normalised as processors leave them: noise has mean 0 and deviation 1."""
    return Domain(
        Kind.FLOAT, shape, dtype=torch.float32, low=-6, high=6, mask=mask, shortest=shortest
    )


_RULES: Final[Mapping[str, Callable[[_Signature], Domain | None]]] = {
    "input_ids": _input_ids,
    "attention_mask": _attention_mask,
    "token_type_ids": _token_type_ids,
    "position_ids": _position_ids,
    "decoder_input_ids": _decoder_input_ids,
    "decoder_attention_mask": _decoder_attention_mask,
    "pixel_values": _pixel_values,
    "bool_masked_pos": _bool_masked_pos,
    "input_values": _input_values,
    "input_features": _input_features,
}
