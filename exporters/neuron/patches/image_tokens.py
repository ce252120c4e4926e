"""Tokens of images looked up where the images are, and not in a table on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import Target, TracePatch
from exporters.neuron.patches.replacing import replace_in

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["IMAGE_TOKENS"]

_METHOD: Final = "get_image_tokens"
_CONVERT: Final = "convert_img2bpe"


def find(model: nn.Module) -> list[nn.Module]:
    """The modules that turn codes of images into tokens, as Chameleon's."""
    return [
        module
        for module in model.modules()
        if hasattr(type(module), _METHOD)
        and hasattr(getattr(module, "vocabulary_mapping", None), _CONVERT)
    ]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Let their codes stay where they are."""
    for module in modules:
        replace_in(module, _METHOD, _replacements)


def _replacements() -> dict[Any, Callable[..., Any]]:
    import torch

    return {
        torch.Tensor.to: partial(_to, torch.Tensor.to),
        torch.Tensor.__getitem__: partial(_getitem, torch.Tensor.__getitem__),
        torch.cat: partial(_cat, torch.cat),
    }


def _to(original: Callable[..., Any], tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    return tensor if args == ("cpu",) else original(tensor, *args, **kwargs)


def _getitem(original: Callable[..., Any], table: torch.Tensor, index: Any) -> Any:
    import torch

    if isinstance(index, torch.Tensor) and index.device != table.device:
        table = table.to(index.device)
    return original(table, index)


def _cat(
    original: Callable[..., Any], parts: Sequence[torch.Tensor], *args: Any, **kw: Any
) -> Any:
    return original([part.to(parts[0].device) for part in parts], *args, **kw)


IMAGE_TOKENS: Final = TracePatch(
    name="image_tokens",
    summary="The table from codes of images to tokens is looked up on the device.",
    targets=tuple(
        Target(f"transformers.models.{place}.{_CONVERT}", uses=("img2bpe_mapping_tensor", "to"))
        for place in (
            "chameleon.modeling_chameleon:ChameleonImageVocabularyMapping",
            "emu3.modeling_emu3:Emu3ImageVocabularyMapping",
        )
    ),
    find=find,
    apply=apply,
    mentions=(_CONVERT,),
    requires="transformers<5",
)
