"""Models that attend to everything where transformers leaves out the causal mask.

``create_causal_mask`` gives None where the padding mask masks nothing, for attention that is
causal by itself. That of these models is not: without a mask they attend to later tokens, with one
they do not. A graph that is to give what they give has to decide that itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import Target, TracePatch, names_in_code
from exporters.neuron.patches.rebinding import rebind

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["SKIPPED_MASKS"]

_MAKERS: Final = ("create_causal_mask", "create_sliding_window_causal_mask")


def find(model: nn.Module) -> list[nn.Module]:
    """The modules that make a causal mask."""
    return [m for m in model.modules() if set(_MAKERS) & set(names_in_code(type(m).forward))]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Let the masks of these modules mask nothing where there would be none."""
    for module in modules:
        rebind(module, "forward", {name: _wrap for name in _MAKERS})


def _wrap(make: Callable[..., Any]) -> Callable[..., Any]:
    return partial(_mask, make)


def _mask(make: Callable[..., Any], **arguments: Any) -> Any:
    """What `make` gives for inputs that are padded, opened up for those that are not."""
    mask, padding = make(**arguments), arguments["attention_mask"]
    if mask is None or padding is None or padding.dim() != 2 or not _may_skip(make, arguments):
        return mask
    return _opened(mask, padding.bool().all())


def _may_skip(make: Callable[..., Any], arguments: dict[str, Any]) -> bool:
    """Whether by the shapes alone there need be no mask."""
    return make(**{**arguments, "attention_mask": None, "position_ids": None}) is None


def _opened(mask: torch.Tensor, whole: torch.Tensor) -> torch.Tensor:
    return mask | whole if not mask.is_floating_point() else mask.masked_fill(whole, 0)


SKIPPED_MASKS: Final = TracePatch(
    name="skipped_masks",
    summary="Where no causal mask would be made, for inputs without padding, it masks nothing.",
    targets=tuple(
        Target(f"transformers.models.{place}.forward", uses=_MAKERS[:1])
        for place in (
            "aimv2.modeling_aimv2:Aimv2TextModel",
            "doge.modeling_doge:DogeModel",
        )
    ),
    find=find,
    apply=apply,
    model_types=("aimv2", "doge"),
    tolerance=1e-6,
    requires="transformers<5",
)
