"""OneFormer's queries that may attend to nothing, found without a list of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import Target, TracePatch
from exporters.neuron.patches.replacing import replace_in

if TYPE_CHECKING:
    from torch import nn

__all__ = ["WHOLE_ROWS"]

_LAYER: Final = "OneFormerTransformerDecoderLayer"


def find(model: nn.Module) -> list[nn.Module]:
    """The decoder's layers: ``mask[torch.where(mask.sum(-1) == mask.shape[-1])] = False``."""
    return [module for module in model.modules() if type(module).__name__ == _LAYER]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Let them write where a mask is true, however many places that are."""
    for module in modules:
        replace_in(module, "forward", _replacements)


def _replacements() -> dict[Any, Callable[..., Any]]:
    import torch

    return {torch.where: partial(_where, torch.where)}


def _where(original: Callable[..., Any], condition: Any, *values: Any) -> Any:
    return original(condition, *values) if values else (condition,)


WHOLE_ROWS: Final = TracePatch(
    name="whole_rows",
    summary="Rows of a mask that mask everything out are opened by a mask, not by their places.",
    targets=(
        Target(f"transformers.models.oneformer.modeling_oneformer:{_LAYER}.forward", ("where",)),
    ),
    find=find,
    apply=apply,
    model_types=("oneformer",),
    requires="transformers<5",
)
