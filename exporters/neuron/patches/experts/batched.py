"""Experts of transformers 5, which has a batched implementation of them."""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Final

from exporters.neuron.patches.experts.form import Form

if TYPE_CHECKING:
    from torch import nn

__all__ = ["BATCHED"]

_IMPLEMENTATION: Final = "batched_mm"


def _fits(module: nn.Module) -> bool:
    # What ``transformers.integrations.moe.use_experts_implementation`` puts on its classes.
    return hasattr(module, "_is_expert_parallel") and hasattr(module, "_apply_gate")


def _rewrite(module: nn.Module) -> None:
    """Do for this module what ``model.set_experts_implementation("batched_mm")`` does for all.

    On the module, and not in the configuration, which many models may share.
    """
    from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS

    module.forward = MethodType(ALL_EXPERTS_FUNCTIONS[_IMPLEMENTATION], module)


BATCHED: Final = Form(fits=_fits, rewrite=_rewrite)
"""Those of transformers 5: each token's experts' weights are gathered, and nothing is looped."""
