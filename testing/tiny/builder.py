"""Put a tiny model and its inputs together."""

from __future__ import annotations

from typing import Any

import torch

from testing import auto_classes
from testing.inputs import SampledInputs
from testing.subject import Subject
from testing.tiny.classes import load_class
from testing.tiny.configs import tiny_config
from testing.tiny.errors import (
    ConfigDefaultsError,
    ImpossibleModelError,
    MissingPackageError,
)
from testing.tiny.exceptions import Change, changes_of, impossible
from testing.tiny.rules import input_domains
from testing.tiny.weights import calibrate, scatter

__all__ = ["build_subject"]


def build_subject(model_class: str, seed: int = 0) -> Subject:
    """See `testing.tiny.build`."""
    loaded = load_class(model_class)
    model_type = _model_type(loaded)
    why = impossible(model_type, model_class)
    if why:
        raise ImpossibleModelError(model_class, why)
    changes = changes_of(model_type, model_class)
    config = _config(loaded, changes)
    model = _model(loaded, config, seed)
    inputs = SampledInputs(input_domains(model), seed=seed)
    calibrate(model, inputs.traced())
    exceptions = tuple(change.why for change in changes if change.tames)
    return Subject(model=model, inputs=inputs, exceptions=exceptions)


def _model_type(loaded: Any) -> str:
    """The auto mappings' type, which tells apart types that share a configuration class."""
    own = getattr(loaded.config_class, "model_type", "")
    types = auto_classes.model_types_of(loaded.__name__)
    return own if own in types or not types else types[0]


def _config(loaded: Any, changes: tuple[Change, ...]) -> Any:
    defaults = {name: value for change in changes for name, value in change.defaults.items()}
    config = {name: value for change in changes for name, value in change.config.items()}
    try:
        return tiny_config(loaded.config_class, defaults, config)
    except Exception as error:
        # A configuration class may raise anything for arguments that it lacks.
        name = loaded.config_class.__name__
        raise ConfigDefaultsError(loaded.__name__, name, error) from error


def _model(loaded: Any, config: Any, seed: int) -> torch.nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            model: torch.nn.Module = loaded(config)
        except ImportError as error:
            raise MissingPackageError(loaded.__name__, str(error)) from error
    scatter(model, seed)
    return model.eval()
