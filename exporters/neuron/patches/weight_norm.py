"""Weight norm folded into the weight that it stands for, in both of torch's forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from exporters.neuron.patches.base import Target, TracePatch, set_buffer

if TYPE_CHECKING:
    import torch
    from torch import nn
    from torch.nn.utils.parametrize import ParametrizationList
    from torch.nn.utils.weight_norm import WeightNorm

__all__ = ["WEIGHT_NORM"]

_FOLDED: Final = "folded"
_Folds = dict[tuple[int, int, int], "torch.Tensor"]
"""Folded weights by the identity of magnitude and direction, so that what is tied stays tied."""


class _FoldedHook:
    """Takes the place of a `WeightNorm` hook: hands out the folded weight, computes nothing."""

    def __init__(self, hook: WeightNorm) -> None:
        self.hook = hook
        self.name = hook.name
        self.buffer = f"{hook.name}_{_FOLDED}"

    def __call__(self, module: nn.Module, inputs: Any) -> None:
        setattr(module, self.hook.name, getattr(module, self.buffer))


def find(model: nn.Module) -> list[nn.Module]:
    """Parametrization lists that start with weight norm, and modules with the old hook."""
    return [m for m in model.modules() if _is_parametrization(m) or any(_hooks(m))]


def apply(modules: Sequence[nn.Module], inputs: Any) -> None:
    """Compute each weight by the module's own op; the forward then takes it from a buffer."""
    import torch

    folds: _Folds = {}
    with torch.no_grad():
        for module in modules:
            if _is_parametrization(module):
                _fold_parametrization(module, folds)  # type: ignore[arg-type]
            for key, hook in list(_hooks(module)):
                _fold_hook(module, key, hook, folds)


def _is_parametrization(module: nn.Module) -> bool:
    from torch.nn.utils.parametrizations import _WeightNorm
    from torch.nn.utils.parametrize import ParametrizationList

    return isinstance(module, ParametrizationList) and isinstance(module[0], _WeightNorm)


def _fold_parametrization(parametrization: ParametrizationList, folds: _Folds) -> None:
    norm: Any = parametrization[0]
    magnitude, direction = parametrization.original0, parametrization.original1
    key = (id(magnitude), id(direction), norm.dim)
    if key not in folds:
        folds[key] = norm(magnitude, direction)
    set_buffer(parametrization, _FOLDED, folds[key])
    # On the instance, and as a bound method: a deep copy of the module then uses its own buffer.
    parametrization.forward = MethodType(_forward, parametrization)  # type: ignore[method-assign]


def _forward(parametrization: ParametrizationList) -> torch.Tensor:
    value: torch.Tensor = parametrization.folded  # type: ignore[assignment]
    for further in list(parametrization)[1:]:
        value = further(value)
    return value


def _hooks(module: nn.Module) -> Iterator[tuple[int, WeightNorm]]:
    """The module's weight norm hooks with their keys, also when they are folded already."""
    from torch.nn.utils.weight_norm import WeightNorm

    for key, hook in module._forward_pre_hooks.items():
        original = hook.hook if isinstance(hook, _FoldedHook) else hook
        if isinstance(original, WeightNorm):
            yield key, original


def _fold_hook(module: nn.Module, key: int, hook: WeightNorm, folds: _Folds) -> None:
    magnitude, direction = getattr(module, f"{hook.name}_g"), getattr(module, f"{hook.name}_v")
    tie = (id(magnitude), id(direction), hook.dim)
    if tie not in folds:
        folds[tie] = hook.compute_weight(module)
    folded = _FoldedHook(hook)
    set_buffer(module, folded.buffer, folds[tie])
    module._forward_pre_hooks[key] = folded


WEIGHT_NORM: Final = TracePatch(
    name="weight_norm",
    summary="The normalised weight is computed before the trace instead of at every forward.",
    targets=(
        Target("torch.nn.utils.parametrizations:_WeightNorm.forward", uses=("_weight_norm",)),
        Target("torch.nn.utils.parametrize:ParametrizationList.forward", uses=("ntensors",)),
        Target("torch.nn.utils.weight_norm:WeightNorm.compute_weight", uses=("_weight_norm",)),
        Target("torch.nn.utils.weight_norm:WeightNorm.__call__", uses=("compute_weight",)),
    ),
    find=find,
    apply=apply,
    mentions=("weight_norm",),
)
