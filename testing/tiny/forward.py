"""The forward of one tiny model: what its inputs are called, and what they must fit."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

import torch

from testing import auto_classes
from testing.inputs.inferring import special_tokens

__all__ = ["Forward", "data_parameters", "makes_own_decoder_ids"]

# Heads that read one token's state make their decoder's ids from the encoder's themselves.
_OWN_DECODER_IDS: Final = ("ForSequenceClassification", "ForQuestionAnswering")

# A model that is not given these has not seen the image, the sound or the text that it is for.
_DATA: Final = re.compile(
    r"((decoder_|qformer_)?input_ids|(image_|high_res_)?pixel_values(_videos|_images)?|image_patches"
    r"|input_(values|features)"
    r"|audio_values|(audio|input_audio|image)_(input_)?(features|values)|bbox|flattened_patches"
    r"|past_values|visual_(feats|embeds))"
)

# Since 5.24 it has another name.
_CACHES: Final = frozenset({"past_key_values", "cache"})
# What newer releases call pixel_values, and take under both names for a while.
_OLDER_NAMES: Final = frozenset({"image_patches", "pixel_values_images"})


class Forward:
    """The forward of one model, and the configuration that its inputs must fit.

    Attributes:
        model: The model.
        config: Its configuration.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.config = model.config

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """Parameters of the forward by name."""
        return inspect.signature(type(self.model).forward).parameters

    @property
    def name(self) -> str:
        """Name of the model's class."""
        return str(type(self.model).__name__)

    @cached_property
    def model_type(self) -> str:
        """The type whose package defines the class, else the configuration's."""
        return auto_classes.model_type_of(self.name) or str(self.config.model_type)

    @property
    def required(self) -> list[str]:
        """Parameters without a default."""
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        return [
            name
            for name, parameter in self.parameters.items()
            if parameter.default is parameter.empty and parameter.kind in named and name != "self"
        ]

    @cached_property
    def text_config(self) -> Any:
        """The configuration with the vocabulary of the text."""
        return self.nested("text_config", "vocab_size")

    @cached_property
    def vision_config(self) -> Any:
        """The configuration with the size of the images."""
        return self.nested("vision_config", "image_size")

    def nested(self, name: str, attribute: str) -> Any:
        """The nested configuration `name`, else the first that has `attribute`, else the whole."""
        found = getattr(self.config, name, None)
        if found is not None:
            return found
        return next((c for c in self.configs() if hasattr(c, attribute)), self.config)

    def configs(self) -> Iterator[Any]:
        """The configuration and those nested in it, outermost first."""
        from transformers import PretrainedConfig

        level = [self.config]
        while level:
            yield from level
            level = [
                part
                for config in level
                for part in vars(config).values()
                if isinstance(part, PretrainedConfig)
            ]

    def setting(self, *names: str) -> Any:
        """The first of some settings that the configuration or a nested one has; None of none."""
        for config in self.configs():
            for name in names:
                value = getattr(config, name, None)
                if value is not None:
                    return value
        return None

    @cached_property
    def special(self) -> Mapping[str, int]:
        """Special token ids of all vocabularies by dotted name."""
        return special_tokens(self.config)

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether it takes ids for a decoder beside others."""
        return "decoder_input_ids" in self.parameters

    @property
    def is_decoder_only(self) -> bool:
        """Whether the model type generates and is not an encoder with a decoder's class."""
        if self.is_encoder_decoder or not _CACHES & self.parameters.keys():
            return False
        try:
            classes = auto_classes.classes_of(self.model_type)
        except auto_classes.UnknownModelTypeError:
            return False
        masked = any(name.endswith("ForMaskedLM") for name in classes)
        return not masked and any(
            name.endswith(("ForCausalLM", "LMHeadModel")) for name in classes
        )

    @torch.no_grad()
    def call(self, method: str, inputs: Mapping[str, Any]) -> Any:
        """What a method of the model returns for those of `inputs` that it takes."""
        function = getattr(self.model, method)
        taken = inspect.signature(function).parameters
        return function(**{name: value for name, value in inputs.items() if name in taken})


def data_parameters(model_class: Any) -> tuple[str, ...]:
    """Parameters of a class's forward that carry a sample's data: text, images, sound, boxes."""
    names = inspect.signature(model_class.forward).parameters
    own = {"decoder_input_ids"} if makes_own_decoder_ids(model_class) else set()
    own |= _OLDER_NAMES if "pixel_values" in names else set()
    return tuple(name for name in names if _DATA.fullmatch(name) and name not in own)


def makes_own_decoder_ids(model_class: Any) -> bool:
    """Whether a class of text shifts the encoder's ids for its decoder: users pass none."""
    is_text = "pixel_values" not in inspect.signature(model_class.forward).parameters
    return is_text and str(model_class.__name__).endswith(_OWN_DECODER_IDS)
