"""Mixtures of experts without loops over as many tokens as the router gives to each expert.

A graph has the shapes of its trace, and how many tokens an expert has is known when it runs.
Every expert is given every token, and what it makes of those that are not its own is masked:
``experts / top_k`` times the FLOPs of the experts, all other layers as before. On transformers 5
its own batched implementation is taken instead, which gathers the weights of each token's
experts: the FLOPs of the model, and ``tokens * top_k`` times one expert's weights in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import Target, TracePatch
from exporters.neuron.patches.experts.batched import BATCHED
from exporters.neuron.patches.experts.every_token import LOOP, MASKED_LOOP
from exporters.neuron.patches.experts.form import Form
from exporters.neuron.patches.experts.sized import SIZED
from exporters.neuron.patches.experts.sorted_tokens import GROUPED, ROUTED

if TYPE_CHECKING:
    from torch import nn

__all__ = ["EXPERTS"]

# The first that fits is taken: transformers 5's experts are loops that have another way.
_FORMS: Final = (BATCHED, ROUTED, SIZED, GROUPED, LOOP, MASKED_LOOP)


def find(model: nn.Module) -> list[nn.Module]:
    """The modules that route tokens to experts in one of the known forms."""
    return [module for module in model.modules() if _form(module)]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Give every expert of these modules every token."""
    for module in modules:
        form = _form(module)
        assert form is not None
        form.rewrite(module)


def _form(module: nn.Module) -> Form | None:
    return next((form for form in _FORMS if form.fits(module)), None)


EXPERTS: Final = TracePatch(
    name="experts",
    summary="Every expert is given every token, masked by the router's weights.",
    targets=(Target("torch.overrides:TorchFunctionMode.__torch_function__"),),
    find=find,
    apply=apply,
    mentions=("expert_mask", "expert_size", "tokens_per_expert", "router_mask"),
    tolerance=1e-5,
)
