"""Backbones that a configuration only names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["with_own_backbone"]


def with_own_backbone(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """A backbone that is only named becomes a tiny ResNet with the maps of the same stages.

    The name stands for one of timm of full size, mostly a ResNet-50. The model reads its maps and
    no more, so that a ResNet of transformers differs from it in size alone.
    """
    if values.get("model_type") == "timm_backbone" and values.get("backbone"):
        return _tiny_resnet(values.get("out_indices"))
    if not values.get("backbone") or values.get("backbone_config"):
        return values
    named = values.get("backbone_kwargs") or {}
    own = _tiny_resnet(named.get("out_indices"))
    flags = {"use_timm_backbone": False, "use_pretrained_backbone": False}
    return {**values, **flags, "backbone": None, "backbone_kwargs": None, "backbone_config": own}


def _tiny_resnet(stages: list[int] | None) -> dict[str, Any]:
    widths = {"embedding_size": 32, "hidden_sizes": [32, 32, 64, 64], "depths": [1, 1, 1, 1]}
    return {"model_type": "resnet", **widths, "out_indices": list(stages or [4])}
