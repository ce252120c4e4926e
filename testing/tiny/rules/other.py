"""Inputs of time series, trajectories and graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import torch

from testing.inputs.domains import Domain, Kind
from testing.tiny.features import floats
from testing.tiny.forward import Forward

__all__ = ["RULES"]

# Time steps of a trajectory.
STEPS: Final = 8


def _past_shape(forward: Forward) -> tuple[int, ...]:
    """Shape of a past: what lags reach back to stands before the context."""
    config = forward.config
    channels = getattr(config, "num_input_channels", None)
    if channels is not None:
        return (config.context_length, channels)
    length = config.context_length + max(getattr(config, "lags_sequence", None) or [0])
    size = getattr(config, "input_size", 1)
    return (length,) if size == 1 else (length, size)


def _past_values(forward: Forward) -> Domain:
    return floats(_past_shape(forward))


def _observed(forward: Forward) -> Domain:
    """Which values were observed; any may be missing."""
    return Domain(Kind.BOOL, _past_shape(forward), dtype=torch.bool)


def _past_time_features(forward: Forward) -> Domain:
    config = forward.config
    width = config.num_time_features + config.num_dynamic_real_features
    return floats((_past_shape(forward)[0], width))


def _static_real_features(forward: Forward) -> Domain | None:
    count = forward.config.num_static_real_features
    return floats((count,)) if count else None


def _static_categorical_features(forward: Forward) -> Domain | None:
    count = forward.config.num_static_categorical_features
    if not count:
        return None
    return Domain(Kind.INDEX, (count,), high=min(forward.config.cardinality))


def _past_values_padding(forward: Forward) -> Domain:
    return Domain(Kind.MASK, _past_shape(forward), inverted=True)


def _states(forward: Forward) -> Domain:
    return floats((STEPS, forward.config.state_dim), mask="attention_mask")


def _actions(forward: Forward) -> Domain:
    return floats((STEPS, forward.config.act_dim), mask="attention_mask")


def _per_step(forward: Forward) -> Domain:
    return floats((STEPS, 1), mask="attention_mask")


def _timesteps(forward: Forward) -> Domain | None:
    longest = getattr(forward.config, "max_ep_len", None)
    return None if longest is None else Domain(Kind.INDEX, (STEPS,), high=longest)


def _trajectories(forward: Forward) -> Domain:
    return Domain(Kind.INDEX, (STEPS,), high=forward.config.vocab_size)


RULES: Final[Mapping[str, Callable[[Forward], Domain | None]]] = {
    "past_values": _past_values,
    "past_observed_mask": _observed,
    "observed_mask": _observed,
    "past_time_features": _past_time_features,
    "static_real_features": _static_real_features,
    "static_categorical_features": _static_categorical_features,
    "past_values_padding": _past_values_padding,
    "states": _states,
    "actions": _actions,
    "rewards": _per_step,
    "returns_to_go": _per_step,
    "timesteps": _timesteps,
    "trajectories": _trajectories,
}
