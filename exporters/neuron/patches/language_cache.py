"""OmDet-Turbo's words embedded every time, and not looked up by what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import Target, TracePatch

if TYPE_CHECKING:
    from torch import nn

__all__ = ["LANGUAGE_CACHE"]

_KEY: Final = "_get_cache_key_at_index"
_CACHES: Final = ("language_cache_class", "language_cache_prompt")


def find(model: nn.Module) -> list[nn.Module]:
    """The modules that keep embeddings by the tokens that they are of."""
    return [module for module in model.modules() if hasattr(module, _CACHES[0])]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Make each key one that is not in the cache, and give the trace a cache of its own."""
    for module in modules:
        setattr(module, _KEY, _new_key)
        for name in _CACHES:
            cache = getattr(module, name)
            setattr(module, name, type(cache)(cache.capacity))


def _new_key(*_: Any) -> object:
    return object()


LANGUAGE_CACHE: Final = TracePatch(
    name="language_cache",
    summary="Classes and tasks are embedded every time, whether they have been before or not.",
    targets=(
        Target(
            "transformers.models.omdet_turbo.modeling_omdet_turbo:"
            "OmDetTurboForObjectDetection.get_cached_class_embeddings",
            uses=(_KEY, _CACHES[0]),
        ),
    ),
    find=find,
    apply=apply,
    model_types=("omdet_turbo",),
    tolerance=1e-6,
    requires="transformers<5",
)
