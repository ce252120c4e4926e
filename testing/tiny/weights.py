"""Random weights under which every part of a model is seen in its outputs.

As initialised, many models hide errors: biases and mask tokens are zero, layer scales 1e-6, and
matrices so small that attention is uniform. Weights are therefore rescaled to the deviation that
keeps a signal's variance, and what is constant gets noise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

__all__ = ["calibrate", "scatter"]

_EMBEDDING_DEVIATION: Final = 0.5
_NOISE: Final = 0.2
_QUIET: Final = 0.3
_TRANSPOSED: Final = (Conv1D, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
# Export tests raise the epsilons of norms to this, which takes more of a weak signal at each norm;
# EfficientNet would return the same for every image.
_RAISED_EPSILON: Final = 1.0
_STRONGEST: Final = 8.0
_BATCH_NORMS: Final = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
_CODEBOOK: Final = re.compile(r".*VectorQuantizer")
_WITH_FAN_IN: Final = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, *_TRANSPOSED)


@torch.no_grad()
def scatter(model: nn.Module, seed: int) -> None:
    """Rescale the trainable weights of `model` in place; tables that are not trained stay.

    Args:
        model: A randomly initialised model.
        seed: Seed of the noise.
    """
    generator = torch.Generator().manual_seed(seed)
    seen: set[int] = set()
    for module in model.modules():
        for weight in module.parameters(recurse=False):
            if weight.requires_grad and id(weight) not in seen:
                seen.add(id(weight))
                _scatter_weight(module, weight, generator)
        if type(module).__name__.endswith("Codebook"):
            _fill_codebook(module, generator)
    for module in model.modules():
        if type(module).__name__.endswith("ResidualUnit"):
            _quieten(module)


def _scatter_weight(module: nn.Module, weight: nn.Parameter, generator: torch.Generator) -> None:
    if weight.numel() == 0:
        return
    if weight.min() == weight.max():
        _scatter_constant(weight, generator)
    elif isinstance(module, _BATCH_NORMS):
        # MobileViT draws its scales around zero, which would let no signal through.
        weight.copy_(1 + _NOISE * torch.randn(weight.shape, generator=generator))
    elif weight.ndim > 1 and max(weight.shape) < weight.numel():
        # In steps, since BLIP draws with a deviation of 1e-10, whose square float32 rounds away.
        weight.div_(weight.abs().max())
        weight.mul_(_target_deviation(module, weight) / weight.std(unbiased=False))


def _fill_codebook(module: nn.Module, generator: torch.Generator) -> None:
    """Codes of a codec are buffers of zeros until a checkpoint or training fills them."""
    for table in module.buffers(recurse=False):
        if table.ndim > 1 and table.is_floating_point() and not table.any():
            table.copy_(_EMBEDDING_DEVIATION * torch.randn(table.shape, generator=generator))


def _quieten(unit: nn.Module) -> None:
    """Codecs add branches without a norm, and at full strength each doubles the variance."""
    convolutions = [module for module in unit.modules() if isinstance(module, nn.Conv1d)]
    for convolution in convolutions[-1:]:
        for weight in convolution.parameters():
            weight.mul_(_QUIET)


def _scatter_constant(weight: nn.Parameter, generator: torch.Generator) -> None:
    """Noise around the constant; a scale that would hide its branch becomes visible first."""
    level = float(weight.flatten()[0])
    if 0 < abs(level) < _EMBEDDING_DEVIATION:
        level = math.copysign(_EMBEDDING_DEVIATION, level)
    weight.copy_(level + _NOISE * torch.randn(weight.shape, generator=generator))


def _target_deviation(module: nn.Module, weight: nn.Parameter) -> float:
    if not isinstance(module, _WITH_FAN_IN):
        return _EMBEDDING_DEVIATION
    axis = 1 if isinstance(module, _TRANSPOSED) else 0
    return 1 / math.sqrt(weight.numel() / weight.shape[axis])


@torch.no_grad()
def calibrate(model: nn.Module, inputs: Mapping[str, Any]) -> None:
    """Give batch norms and codebooks the statistics of their own inputs, as training would.

    Without them the signal shrinks by half at every activation, and a convolutional network of
    twenty layers returns the same for every image. One mean and one variance for all channels,
    and not each channel's own: a channel that hardly varies in two samples would be blown up.

    Args:
        model: A model in eval mode.
        inputs: Keyword inputs of one forward; they may be changed by it.
    """
    norms = [m for m in model.modules() if isinstance(m, _BATCH_NORMS)]
    books = [m for m in model.modules() if _is_codebook(m)]
    if not norms and not books:
        return
    epsilons: dict[Any, float] = {norm: norm.eps for norm in norms}
    hooks = [norm.register_forward_pre_hook(_take_statistics) for norm in norms]
    hooks += [book.register_forward_pre_hook(_spread_codes) for book in books]
    try:
        model(**inputs)
    finally:
        for hook in hooks:
            hook.remove()
        for norm, epsilon in epsilons.items():
            norm.eps = epsilon


def _is_codebook(module: nn.Module) -> bool:
    # A quantizer of sound holds several of them, which look theirs up otherwise.
    return bool(_CODEBOOK.fullmatch(type(module).__name__)) and hasattr(module, "embedding")


def _take_statistics(norm: Any, arguments: tuple[torch.Tensor, ...]) -> None:
    mean, variance = norm.get_buffer("running_mean"), norm.get_buffer("running_var")
    spread = torch.linspace(1 - _NOISE, 1 + _NOISE, len(mean))
    mean.copy_(arguments[0].mean() * spread)
    variance.copy_(arguments[0].var() * spread)
    if norm.eps != _RAISED_EPSILON and norm.weight is not None:
        # Once, on the first call.
        norm.weight.mul_((1 + _RAISED_EPSILON / arguments[0].var()).sqrt().clamp(max=_STRONGEST))
        norm.eps = _RAISED_EPSILON


def _spread_codes(book: nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
    """Spread the codes of images over what is encoded; else all images get the nearest to zero."""
    weight = book.get_submodule("embedding").get_parameter("weight")
    channels = arguments[0].movedim(-3, 0).flatten(1)
    unit = weight / weight.std()
    weight.copy_(channels.mean(1) + channels.std(1) * unit)
