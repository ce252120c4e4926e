"""Loops over experts that pick each expert's tokens, run with every token for every expert."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.experts.form import Form, names_in
from exporters.neuron.patches.replacing import replace_in

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["LOOP", "MASKED_LOOP", "mark", "on_every_token"]

_CHOSEN: Final = "chosen_rows"
_Handler = Callable[..., Any]


def on_every_token(module: nn.Module, method: str) -> None:
    """Let `method` of this module run with every token where it picks some of them.

    What picks the tokens of one expert gives all of them, and what puts that expert's results
    back leaves the others as they are. In between stands the expert, which treats each token
    by itself. So nothing depends on how many tokens an expert has.
    """
    replace_in(module, method, partial(_replacements, getattr(module, "num_experts", None)))


def mark(rows: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Indices of rows, of which only the `chosen` may be added to anything.

    Args:
        rows: int64 of shape (rows,).
        chosen: bool of shape (rows,).
    """
    setattr(rows, _CHOSEN, chosen)
    return rows


@cache
def _replacements(experts: int | None) -> dict[Any, Callable[..., Any]]:
    import torch

    handlers: dict[Any, Callable[..., Any]] = {
        torch.where: partial(_where, experts),
        torch.nonzero: partial(_nonzero, experts),
        torch.Tensor.nonzero: partial(_nonzero, experts),
        torch.Tensor.index_add: _index_add,
        torch.Tensor.index_add_: _index_add,
        torch.Tensor.__getitem__: _getitem,
        torch.Tensor.__setitem__: _setitem,
    }
    return {func: partial(handler, func) for func, handler in handlers.items()}


def _nonzero(experts: int | None, func: _Handler, mask: torch.Tensor, **kwargs: Any) -> Any:
    """The experts that have a token: all of them. On the CPU, where a loop may count them.

    Not what the mask has beside them, which is for tokens of no expert.
    """
    import torch

    if mask.dim() != 1:
        return func(mask, **kwargs)
    every = torch.arange(mask.shape[0])[:experts]
    return (every,) if kwargs.get("as_tuple") else every.unsqueeze(1)


def _where(
    experts: int | None, func: _Handler, mask: torch.Tensor, *others: Any, **kwargs: Any
) -> Any:
    """Slots and tokens of a mask of shape (top_k, tokens): every token, and its slot if any."""
    import torch

    if others or kwargs or mask.dim() != 2:
        return func(mask, *others, **kwargs)
    slots, tokens = (torch.arange(size, device=mask.device) for size in mask.shape)
    mask = mask.to(torch.bool)
    if experts is None or len(slots) < experts:
        return mask.to(torch.uint8).argmax(0), mark(tokens, mask.any(0))
    # With as many slots as experts, an expert need not be another in each: NLLB-MoE of
    # transformers 5 has slots that say 0 or 1.
    every = slots.repeat_interleave(len(tokens)), tokens.repeat(len(slots))
    return every[0], mark(every[1], mask.flatten())


def _index_add(
    func: _Handler,
    total: torch.Tensor,
    dim: int,
    index: torch.Tensor,
    source: torch.Tensor,
    **named: Any,
) -> Any:
    import torch

    chosen = getattr(index, _CHOSEN, None)
    if chosen is not None:
        source = torch.where(_beside(chosen, source), source, 0)
    return func(total, dim, index, source, **named)


def _getitem(func: _Handler, tensor: torch.Tensor, index: Any) -> Any:
    mask, whole = _unmasked(index)
    found = func(tensor, whole)
    return found if mask is None else found.flatten(0, mask.dim() - 1)


def _setitem(func: _Handler, tensor: torch.Tensor, index: Any, value: Any) -> None:
    import torch

    mask, whole = _unmasked(index)
    if mask is not None:
        before = tensor[whole]
        value = torch.where(_beside(mask, before), value.reshape(before.shape), before)
    func(tensor, whole, value)


def _unmasked(index: Any) -> tuple[torch.Tensor | None, Any]:
    """The mask of an index, if it has one, and the index with everything instead of the mask.

    Beside a mask stand numbers alone in the code of experts, so that its dimensions come first.
    """
    import torch

    parts = index if isinstance(index, tuple) else (index,)
    masks = [part for part in parts if isinstance(part, torch.Tensor) and part.dtype == torch.bool]
    if len(masks) != 1:
        return None, index
    everything = (slice(None),) * masks[0].dim()
    whole = [everything if part is masks[0] else (part,) for part in parts]
    return masks[0], tuple(part for group in whole for part in group)


def _beside(mask: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """`mask`, which is about the first dimensions of `value`, to be broadcast over the others."""
    return mask.reshape(*mask.shape, *(1,) * (value.dim() - mask.dim()))


def _loops(module: nn.Module) -> bool:
    """Whether it loops over experts; not where it can do all at once, and will while tracing."""
    names = names_in(module, "forward")
    return {"where", "permute", "index_add_"} <= names and "bmm" not in names


def _loops_by_mask(module: nn.Module) -> bool:
    from torch import nn

    experts = getattr(module, "experts", None)
    by_mask = {"experts", "bool"} <= names_in(module, "forward")
    return by_mask and isinstance(experts, nn.ModuleDict)


def _rewrite(module: nn.Module) -> None:
    on_every_token(module, "forward")


LOOP: Final = Form(fits=_loops, rewrite=_rewrite)
"""Mixtral's: ``slots, tokens = torch.where(mask[expert])`` and ``index_add_(0, tokens, …)``."""

MASKED_LOOP: Final = Form(fits=_loops_by_mask, rewrite=_rewrite)
"""Switch's, which drops tokens: ``states[mask] = expert(tokens[mask])``."""
