"""How programs of OpenVINO are compiled, and what they need of tensors."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

__all__ = ["COMPILED"]

COMPILED: Final[Mapping[str, Any]] = MappingProxyType(
    {
        # On a CPU with AMX the default is bf16, which is 1.6e-2 off on ViT.
        "INFERENCE_PRECISION_HINT": "f32",
        "KV_CACHE_PRECISION": "f32",
        "INFERENCE_NUM_THREADS": 1,
        # Workers of one machine would all be pinned to the same core.
        "ENABLE_CPU_PINNING": False,
    }
)
"""Properties of ``Core.compile_model``: values as eager has them, one thread for each worker."""
