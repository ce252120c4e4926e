"""Put a tiny model and its inputs together."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final
from unittest import mock

import torch

from testing import auto_classes
from testing.inputs import SampledInputs
from testing.inputs.domains import Domain
from testing.inputs.sampling import TRACED, sample
from testing.subject import Subject
from testing.tiny.classes import load_class
from testing.tiny.configs import tiny_config
from testing.tiny.errors import (
    ConfigDefaultsError,
    ImpossibleModelError,
    MissingPackageError,
)
from testing.tiny.exceptions import Change, changes_of, impossible, uninitialised
from testing.tiny.rules import input_domains
from testing.tiny.weights import calibrate, scatter

__all__ = ["build_subject", "sampled_inputs"]

# A decoder's head reads the last token that is no padding, and without a padding token it refuses
# batches above 1. Most classes leave the token to the checkpoint.
_NEEDS_PADDING: Final = "ForSequenceClassification"
_PADDING: Final = 0
_BATCH_SIZE: Final = 2


def build_subject(model_class: str, seed: int = 0) -> Subject:
    """See `testing.tiny.build`."""
    # Before it is loaded: one that the auto mappings name does not exist.
    why = impossible(auto_classes.model_type_of(model_class) or "", model_class)
    if why:
        raise ImpossibleModelError(model_class, why)
    loaded = load_class(model_class)
    model_type = _model_type(loaded)
    changes = changes_of(model_type, model_class)
    config = _config(loaded, changes)
    if model_class.endswith(_NEEDS_PADDING):
        _give_padding(config)
    model = _model(loaded, config, seed)
    inputs = sampled_inputs(model, seed)
    calibrate(model, inputs.traced())
    exceptions = tuple(change.why for change in changes if change.tames)
    return Subject(model=model, inputs=inputs, exceptions=exceptions)


def sampled_inputs(model: torch.nn.Module, seed: int = 0) -> SampledInputs:
    """Inputs drawn from the domains that `model` has for them.

    Raises:
        NoTinyModelError: The forward requires an input for which there is no rule.
    """
    return _drawn(input_domains(model), seed)


def _drawn(domains: dict[str, Domain], seed: int) -> SampledInputs:
    """Inputs drawn from their domains; dots in the name of one lead into a mapping or a tuple."""
    if not any("." in path for path in domains):
        return SampledInputs(domains, seed=seed)
    example = _nested(sample(domains, TRACED, _BATCH_SIZE, seed))
    return SampledInputs(domains, _BATCH_SIZE, seed, example)


def _nested(leaves: Mapping[str, Any]) -> dict[str, Any]:
    inner: dict[str, dict[str, Any]] = {}
    for path, leaf in leaves.items():
        name, _, rest = path.partition(".")
        inner.setdefault(name, {})[rest] = leaf
    whole = {name: part[""] if "" in part else _nested(part) for name, part in inner.items()}
    listed = {name: tuple(part.values()) for name, part in whole.items() if _is_listed(part)}
    return {**whole, **listed}


def _is_listed(part: Any) -> bool:
    return isinstance(part, dict) and all(name.isdecimal() for name in part)


def _model_type(loaded: Any) -> str:
    """The auto mappings' type, which tells apart types that share a configuration class."""
    own = getattr(loaded.config_class, "model_type", "")
    types = auto_classes.model_types_of(loaded.__name__)
    return own if own in types or not types else types[0]


def _config(loaded: Any, changes: tuple[Change, ...]) -> Any:
    defaults = {name: value for change in changes for name, value in change.defaults.items()}
    config = {name: value for change in changes for name, value in change.config.items()}
    config_class = _config_class(loaded)
    try:
        # Copied, since some configuration classes take keys out of what they are given.
        whole = tiny_config(config_class, copy.deepcopy(defaults), copy.deepcopy(config))
        parts = [change.part for change in changes if change.part]
        return getattr(whole, parts[0], whole) if parts else whole
    except ImportError as error:
        raise MissingPackageError(loaded.__name__, str(error)) from error
    except Exception as error:
        # A configuration class may raise anything for arguments that it lacks.
        name = config_class.__name__
        raise ConfigDefaultsError(loaded.__name__, name, error) from error


def _give_padding(config: Any) -> None:
    for part in (config, config.get_text_config()):
        if getattr(part, "pad_token_id", None) is None:
            part.pad_token_id = _PADDING


def _config_class(loaded: Any) -> Any:
    """The class's own configuration, else that of its type: a part may declare the whole's."""
    from transformers import CONFIG_MAPPING

    model_type, own = _model_type(loaded), loaded.config_class
    if own.model_type == model_type or model_type not in CONFIG_MAPPING:
        return own
    whole = CONFIG_MAPPING[model_type]
    # The decoder of Musicgen is mapped to the type of the whole.
    parts = getattr(whole, "sub_configs", {})
    # With a backbone it is a property of the instance.
    return own if isinstance(parts, Mapping) and own in parts.values() else whole


def _model(loaded: Any, config: Any, seed: int) -> torch.nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            with _initialisation(loaded):
                model: torch.nn.Module = loaded(config)
        except ImportError as error:
            raise MissingPackageError(loaded.__name__, str(error)) from error
    scatter(model, seed)
    return model.eval()


def _initialisation(loaded: Any) -> AbstractContextManager[Any]:
    """PyTorch's initialisation alone where the class's own raises."""
    if not uninitialised(_model_type(loaded), loaded.__name__):
        return nullcontext()
    # Of the family, since a class with a head holds another of it.
    family = next(base for base in loaded.__mro__ if "_init_weights" in vars(base))
    return mock.patch.object(family, "_init_weights", return_value=None)
