"""What the graph test runs in a child: the trace of one tiny model, with and without the guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

REFUSED = "unguarded, and the guard has refused it"
"""The stage of a trace that has to end as the guard said."""


def texts(payload: dict[str, Any], report: Callable[[str], None]) -> list[str]:
    """HLO of the model traced with the guard, and without it; both without lowerings."""
    import torch

    from exporters.neuron.errors import UnloweredOpError
    from testing.pipeline.prepare import normalise
    from testing.tiny import build

    subject = normalise(build(payload["model_class"]))
    inputs = subject.inputs.traced()
    # As in a case: at its first forward ModernBERT decides for good whether it is compiled.
    with torch.no_grad():
        subject.model(**subject.inputs.traced())
    report("guarded")
    try:
        guarded = _text(subject.model, inputs, guarded=True)
    except UnloweredOpError:
        report(REFUSED)
        return [_text(subject.model, inputs, guarded=False)]
    report("unguarded")
    return [guarded, _text(subject.model, inputs, guarded=False)]


def _text(model: Any, inputs: dict[str, Any], guarded: bool) -> str:
    import torch
    import torch_xla

    from exporters.neuron import lazy, trace_patches
    from exporters.neuron.graph import trace
    from exporters.tree import tensor_leaves

    torch.manual_seed(0)
    torch_xla.manual_seed(0)
    with trace_patches(model, inputs):
        graph = trace(model, inputs, guarded)
    outputs = tensor_leaves(graph.output).values()
    return lazy.program_of([leaf for leaf in outputs if leaf.device.type == "xla"])
