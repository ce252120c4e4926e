"""Tokens in a text in whose places a model puts what it made of an image, a video or a sound."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch

from testing.inputs.domains import Run
from testing.inputs.sampling import TRACED, sample
from testing.tiny.forward import Forward
from testing.tiny.rules.data import data_domains

__all__ = ["placeholder_runs", "unnamed_placeholder"]

_BATCH_SIZE: Final = 2


@dataclass(frozen=True)
class _Medium:
    """What stands for one kind of data in a text.

    Attributes:
        tokens: Names by which configurations call the token, the usual one first.
        inputs: Names of the data; the first that the forward takes says whether it is given.
        method: The model's method that makes features of the data.
        stated: Names of settings that state the number of features outright.
        edges: Names of the tokens before and after the features, where a model has them.
    """

    tokens: tuple[str, ...]
    inputs: tuple[str, ...]
    method: str
    stated: tuple[str, ...] = ()
    edges: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


_MEDIA: Final = (
    _Medium(
        ("image_token_id", "image_token_index"),
        ("pixel_values", "pixel_values_images", "image_pixel_values", "image_patches"),
        "get_image_features",
        stated=("num_query_tokens",),
        edges=(
            ("image_start_token_id", "vision_start_token_id", "image_start_id"),
            ("image_end_token_id", "vision_end_token_id", "image_end_id"),
        ),
    ),
    _Medium(
        ("video_token_id", "video_token_index"),
        ("pixel_values_videos",),
        "get_video_features",
        edges=(
            ("video_start_token_id", "vision_start_token_id", "image_start_id"),
            ("video_end_token_id", "vision_end_token_id", "image_end_id"),
        ),
    ),
    _Medium(
        ("audio_token_id", "audio_token_index"),
        ("input_features", "input_audio_features", "input_values", "audio_input_ids"),
        "get_audio_features",
        stated=("audio_soft_tokens_per_image",),
        edges=(("audio_start_token_id",), ("audio_end_token_id",)),
    ),
)


_Count = Callable[[Forward, Mapping[str, Any]], int]


def _phi4_image(forward: Forward, drawn: Mapping[str, Any]) -> int:
    """A token for each two by two patches, one after each of their rows and one between."""
    vision = forward.vision_config
    side = vision.crop_size // vision.patch_size // 2
    height, width = (int(size) // vision.crop_size * side for size in drawn["image_sizes"][0])
    return int(height * (width + 1) + 1 + side * (side + 1))


def _onevision_video(forward: Forward, drawn: Mapping[str, Any]) -> int:
    """Its frames' features and one that ends the video, which transformers 4 adds later."""
    model = forward.model
    method = getattr(model, "model", model).get_video_features
    frames = _rows(_features(forward, method, drawn, "pixel_values_videos")) // _BATCH_SIZE
    return frames + ("image_newline" not in inspect.getsource(inspect.unwrap(method)))


def _granite_4_image(forward: Forward, drawn: Mapping[str, Any]) -> int:
    """Of what goes into the first layer of the text; into others go as many."""
    model = getattr(forward.model, "model", forward.model)
    features = _features(forward, model.get_image_features, drawn, "pixel_values")
    return sum(map(len, features.deepstack_features[0][1])) // _BATCH_SIZE


def _glm_image(forward: Forward, drawn: Mapping[str, Any]) -> int:
    """A token for each patch of the image that it sees."""
    return int(drawn["image_grid_thw"][0].prod())


def _pi0_image(forward: Forward, drawn: Mapping[str, Any]) -> int:
    """A token for each patch of what each camera sees."""
    vision = forward.config.vlm_config.vision_config
    return int(drawn["pixel_values"].shape[1] * (vision.image_size // vision.patch_size) ** 2)


_COUNTS: Final[Mapping[str, Mapping[str, _Count]]] = {
    "glm_image": {"get_image_features": _glm_image},
    "granite4_vision": {"get_image_features": _granite_4_image},
    "instructblipvideo": {
        "get_video_features": lambda forward, drawn: (
            drawn["pixel_values"].shape[1] * forward.config.num_query_tokens
        ),
    },
    "llava_onevision": {"get_video_features": _onevision_video},
    "pi0": {"get_image_features": _pi0_image},
    "phi4_multimodal": {
        "get_image_features": _phi4_image,
        "get_audio_features": lambda _, drawn: int(drawn["audio_embed_sizes"][0]),
    },
}
"""Numbers of features by model type and method, for models without the method."""


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
    if "image_embeds_position_mask" in forward.parameters:
        yield Run((unnamed_placeholder(forward),) * forward.setting("latent_query_num"))
    for medium in _MEDIA:
        token = _token(forward, medium.tokens)
        count = 0 if token is None else _feature_count(forward, medium)
        if token is not None and count:
            yield from _runs_of(forward, medium, token, count)


def unnamed_placeholder(forward: Forward) -> int:
    """A token that a mask of its own marks as an image's place, so that any may stand there."""
    return int(forward.text_config.vocab_size) - 1


def _runs_of(forward: Forward, medium: _Medium, token: int, count: int) -> Iterator[Run]:
    """A run with its edges; of a video whose frames stand apart, one for each frame."""
    apart = medium.method == "get_video_features" and _parts_frames(forward)
    runs = _frames(forward) if apart else 1
    start, end = (_edge(forward, names) for names in medium.edges)
    for _ in range(runs):
        yield Run((*start, *[token] * (count // runs), *end))


def _frames(forward: Forward) -> int:
    """Frames of the video that a sample brings, in patches along time."""
    return int(_drawn(forward)["video_grid_thw"][0, 0])


def _parts_frames(forward: Forward) -> bool:
    """Whether the model counts positions of a video frame by frame, with time stamps between.

    Only its code tells: it repeats the video's grid for each frame.
    """
    for model in _asked(forward):
        method = getattr(model, "get_rope_index", None)
        if method is not None:
            return "repeat_interleave(video_grid_thw" in inspect.getsource(method)
    return False


def _edge(forward: Forward, names: tuple[str, ...]) -> tuple[int, ...]:
    token = _token(forward, names)
    return () if token is None else (token,)


def _token(forward: Forward, names: tuple[str, ...]) -> int | None:
    token = forward.setting(*names)
    return token if isinstance(token, int) else None


def _feature_count(forward: Forward, medium: _Medium) -> int:
    """How many features the model makes of one sample's data; 0 where it is given none."""
    drawn = _drawn(forward)
    own = _COUNTS.get(forward.model_type, {}).get(medium.method)
    if own is not None:
        return own(forward, drawn)
    given = next((name for name in medium.inputs if name in drawn), None)
    if given is None:
        return 0
    stated = forward.setting(*medium.stated)
    return stated if isinstance(stated, int) else _asked_count(forward, medium, drawn, given)


def _asked_count(forward: Forward, medium: _Medium, drawn: Mapping[str, Any], given: str) -> int:
    """How many features the first model with a method for them makes of one sample's data."""
    # Some make a video's features as an image's of each frame.
    for name in (medium.method, "get_image_features"):
        for model in _asked(forward):
            if hasattr(model, name):
                features = _features(forward, getattr(model, name), drawn, given)
                return _rows(features) // _BATCH_SIZE
    return 0


def _asked(forward: Forward) -> Iterator[Any]:
    """The models in a model, innermost first: an outer method may pass on what it should not."""
    inner = getattr(forward.model, "model", None) or getattr(forward.model, "vlm", None)
    models = [getattr(inner, "model", None), inner, forward.model]
    # One with a decoder may see in its encoder alone.
    models += [getattr(model, "encoder", None) for model in models]
    yield from (model for model in models if model is not None)


@torch.no_grad()
def _features(
    forward: Forward, method: Callable[..., Any], drawn: Mapping[str, Any], given: str
) -> Any:
    """What a method makes of the data, which some call otherwise than the forward does."""
    taken = inspect.signature(method).parameters
    arguments = {name: value for name, value in drawn.items() if name in taken}
    if given not in taken:
        arguments = {next(iter(taken)): drawn[given]}
    for name, parameter in taken.items():
        if parameter.default is parameter.empty and name not in arguments:
            setting = forward.setting(name)
            arguments.update({} if setting is None else {name: setting})
    return method(**arguments)


def _drawn(forward: Forward) -> Mapping[str, Any]:
    """Everything but the text, as the traced inputs have it."""
    return sample(data_domains(forward), TRACED, _BATCH_SIZE, seed=0)


def _rows(features: Any) -> int:
    """Rows in what a method returned: a tensor, one for each image, or an output of its own."""
    for name in ("pooler_output", "last_hidden_state"):
        made = getattr(features, name, None)
        if made is not None:
            return _rows(made)
    if isinstance(features, torch.Tensor):
        # Masks and lengths stand beside features.
        return features.numel() // features.shape[-1] if features.is_floating_point() else 0
    if isinstance(features, (list, tuple)):
        if all(isinstance(part, torch.Tensor) for part in features) and _is_alike(features):
            return sum(_rows(part) for part in features)
        return _rows(features[0])
    return 0


def _is_alike(features: Sequence[torch.Tensor]) -> bool:
    """Whether each is the features of an image, and not what else a method returns beside them."""
    return len({part.ndim for part in features if part.is_floating_point()}) == 1
