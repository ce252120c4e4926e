"""A subject as every case runs it: same model, same inputs, same seed on both sides.

The model is not tamed: nothing here changes what its forward computes but the epsilons of norm
layers, which transformers' own export tests raise as well.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, Final

import torch

from exporters.tree import substitute, tensor_leaves
from testing.inputs.derived import DerivedInputs
from testing.subject import Inputs, Subject

__all__ = [
    "DROPPED_INPUTS",
    "CleanInputs",
    "copy_inputs",
    "disable_hub_kernels",
    "normalise",
    "snapshot",
]

DROPPED_INPUTS: Final = frozenset({"labels", "return_loss", "future_values"})
"""Inputs of training, which no exported model gets."""


def disable_hub_kernels() -> None:
    """Keep transformers from replacing layers by kernels that it downloads from the hub.

    transformers 5 reads the variable when it is imported, so a process that is about to import
    it calls this first; what is imported already is told as well.
    """
    os.environ["USE_HUB_KERNELS"] = "NO"
    hub_kernels: Any = sys.modules.get("transformers.integrations.hub_kernels")
    if hasattr(hub_kernels, "_kernels_enabled"):
        hub_kernels._kernels_enabled = False


def copy_inputs(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A deep copy that shares nothing with `inputs`, since models mutate what they are given."""
    return dict(snapshot(dict(inputs)))


def snapshot(value: Any) -> Any:
    """A deep copy of a nested value whose tensors have no gradient history."""
    fresh = {id(leaf): leaf.detach().clone() for leaf in tensor_leaves(value).values()}
    return substitute(value, fresh)


def normalise(subject: Subject) -> Subject:
    """The subject in eval mode, without hub kernels and losses, and with clean inputs.

    transformers' ``set_config_for_less_flaky_test`` and ``set_model_for_less_flaky_test`` are
    applied to its models; a plain ``torch.nn.Module`` and a checkpoint are left as they are.

    Raises:
        ValueError: Kernels of the hub have replaced the model's forward, which nothing undoes.
    """
    disable_hub_kernels()
    if getattr(subject.model, "use_kernels", False):
        raise ValueError(f"{type(subject.model).__name__} was built with kernels of the hub")
    model = subject.model.eval()
    if _is_of_transformers(model) and not subject.is_trained:
        _steady(model)
    return replace(subject, model=model, inputs=CleanInputs(subject.inputs, model))


class CleanInputs(DerivedInputs):
    """The inputs of a subject, less those of training, in the model's dtype and on its device.

    Every set is a deep copy. `Inputs` says what the attributes and methods are.
    """

    def __init__(self, inputs: Inputs, model: torch.nn.Module) -> None:
        super().__init__(inputs)
        self._dtype, self._device = _placement(model)
        self.unchanged: Mapping[str, str] = dict(inputs.unchanged)
        self.axes: Mapping[str, int] = dict(inputs.axes)

    def _derived(self, inputs: dict[str, Any]) -> dict[str, Any]:
        kept = {
            name: value
            for name, value in inputs.items()
            if value is not None and name not in DROPPED_INPUTS
        }
        leaves = tensor_leaves(kept).values()
        return dict(substitute(kept, {id(leaf): self._placed(leaf) for leaf in leaves}))

    def _placed(self, leaf: torch.Tensor) -> torch.Tensor:
        dtype = self._dtype if leaf.is_floating_point() else None
        return leaf.detach().clone().to(device=self._device, dtype=dtype or leaf.dtype)


def _placement(model: torch.nn.Module) -> tuple[torch.dtype | None, torch.device]:
    """Dtype of the model's first floating tensor, and the device of its first tensor."""
    tensors = [*model.parameters(), *model.buffers()]
    dtype = next((t.dtype for t in tensors if t.is_floating_point()), None)
    return dtype, next((t.device for t in tensors), torch.device("cpu"))


def _is_of_transformers(model: torch.nn.Module) -> bool:
    return any(base.__module__.startswith("transformers.") for base in type(model).__mro__)


def _steady(model: torch.nn.Module) -> None:
    # Imported here: it takes seconds, and plain modules do not need it.
    testing_utils: Any = import_module("transformers.testing_utils")
    for config in _configs(getattr(model, "config", None)):
        # It sets the config's own epsilons first and then those of parts that may be None, where
        # it raises; the parts that exist get a call of their own.
        with contextlib.suppress(AttributeError):
            testing_utils.set_config_for_less_flaky_test(config)
        if hasattr(config, "return_loss"):
            config.return_loss = False
    testing_utils.set_model_for_less_flaky_test(model)


def _configs(config: Any) -> Iterator[Any]:
    """A configuration of transformers and those nested in it."""
    from transformers import PretrainedConfig

    if not isinstance(config, PretrainedConfig):
        return
    yield config
    for part in list(vars(config).values()):
        yield from _configs(part)
