"""What a checkpoint is, and whether its trace patches change what it computes; run in a child."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["DESCRIBE", "PATCH", "describe", "patch"]

DESCRIBE: Final = "testing.check.describing:describe"
PATCH: Final = "testing.check.describing:patch"


def describe(payload: Mapping[str, str], report: Callable[[str], None]) -> dict[str, Any]:
    """The target of a child: the class, the type, the dtype, the size and the inputs."""
    report("load")
    from testing.check.loaded import SUBJECT

    model, inputs = SUBJECT.model, SUBJECT.inputs
    config: Any = model.config
    weights = {w.data_ptr(): w for w in (*model.parameters(), *model.buffers())}.values()
    dtypes = [weight.dtype for weight in weights if weight.is_floating_point()]
    return {
        "model_class": type(model).__name__,
        "model_type": config.model_type,
        "dtype": str(dtypes[0]).removeprefix("torch.") if dtypes else "float32",
        "weights_mb": round(sum(w.numel() * w.element_size() for w in weights) / 2**20, 3),
        "inputs": getattr(inputs, "described", "unknown"),
    }


def patch(payload: Mapping[str, str], report: Callable[[str], None]) -> dict[str, Any]:
    """The target of a child: all trace patches against none, on the CPU.

    Args:
        payload: ``backend``.
        report: Told of each stage.
    """
    report("load")
    from exporters import get_backend
    from exporters.base import Selection
    from testing.check.loaded import SUBJECT
    from testing.patches.inspecting import inspect
    from testing.pipeline.prepare import normalise

    subject = normalise(SUBJECT)
    report("inspect")
    backend = get_backend(payload["backend"])
    return dataclasses.asdict(
        inspect(subject.model, subject.inputs.traced(), backend, Selection())
    )
