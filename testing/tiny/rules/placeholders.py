"""Tokens in a text in whose places a model puts what it made of an image, a video or a sound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch

from testing.inputs.domains import Run
from testing.inputs.sampling import TRACED, sample
from testing.tiny.forward import Forward
from testing.tiny.rules.data import data_domains

__all__ = ["placeholder_runs"]

_BATCH_SIZE: Final = 2


@dataclass(frozen=True)
class _Medium:
    """What stands for one kind of data in a text.

    Attributes:
        tokens: Names by which configurations call the token, the usual one first.
        inputs: Names of the data; the first that the forward takes says whether it is given.
        method: The model's method that makes features of the data.
        edges: Names of the tokens before and after the features, where a model has them.
    """

    tokens: tuple[str, ...]
    inputs: tuple[str, ...]
    method: str
    edges: tuple[str, str] = ("", "")


_MEDIA: Final = (
    _Medium(
        ("image_token_id", "image_token_index"),
        ("pixel_values",),
        "get_image_features",
        ("vision_start_token_id", "vision_end_token_id"),
    ),
    _Medium(
        ("video_token_id", "video_token_index"), ("pixel_values_videos",), "get_video_features"
    ),
    _Medium(
        ("audio_token_id", "audio_token_index"),
        ("input_features", "input_audio_features"),
        "get_audio_features",
    ),
)


def placeholder_runs(forward: Forward) -> tuple[Run, ...]:
    """A run of placeholders for each kind of data that a sample brings beside its text.

    How many an image takes depends on patches, merging and crops; the model itself is asked.
    """
    cached: tuple[Run, ...] | None = vars(forward).get("_placeholder_runs")
    if cached is None:
        cached = tuple(_runs(forward))
        vars(forward)["_placeholder_runs"] = cached
    return cached


def _runs(forward: Forward) -> Iterator[Run]:
    if "input_ids" not in forward.parameters:
        return
    for medium in _MEDIA:
        token = _token(forward, medium.tokens)
        if token is None or not hasattr(forward.model, medium.method):
            continue
        count = _feature_count(forward, medium)
        if count:
            start, end = (forward.setting(edge) if edge else None for edge in medium.edges)
            edges = [[edge] if isinstance(edge, int) else [] for edge in (start, end)]
            yield Run((*edges[0], *[token] * count, *edges[1]))


def _token(forward: Forward, names: tuple[str, ...]) -> int | None:
    token = forward.setting(*names)
    return token if isinstance(token, int) else None


def _feature_count(forward: Forward, medium: _Medium) -> int:
    """How many features the model makes of one sample's data; 0 where it is given none."""
    drawn = _drawn(forward)
    if not any(name in drawn for name in medium.inputs):
        return 0
    features = forward.call(medium.method, drawn)
    return _rows(features) // _BATCH_SIZE


def _drawn(forward: Forward) -> Mapping[str, Any]:
    """Everything but the text, as the traced inputs have it."""
    return sample(data_domains(forward), TRACED, _BATCH_SIZE, seed=0)


def _rows(features: Any) -> int:
    """Rows in what a method returned: a tensor, one for each image, or an output of its own."""
    pooled = getattr(features, "pooler_output", None)
    if pooled is not None:
        return _rows(pooled)
    if isinstance(features, torch.Tensor):
        return features.numel() // features.shape[-1]
    if isinstance(features, (list, tuple)):
        if all(isinstance(part, torch.Tensor) for part in features):
            return sum(_rows(part) for part in features)
        return _rows(features[0])
    return 0
