"""What the graph test runs in a child: the trace of one tiny model, with and without the guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def texts(payload: dict[str, Any], report: Callable[[str], None]) -> list[str]:
    """HLO of the model traced without the guard, and with it."""
    import torch
    import torch_xla

    from exporters.neuron import lazy, trace_patches
    from exporters.neuron.graph import trace
    from exporters.tree import tensor_leaves
    from testing.pipeline.prepare import normalise
    from testing.tiny import build

    subject = normalise(build(payload["model_class"]))
    inputs = subject.inputs.traced()
    # As in a case: at its first forward ModernBERT decides for good whether it is compiled.
    with torch.no_grad():
        subject.model(**subject.inputs.traced())
    found = []
    for guarded in (False, True):
        report("guarded" if guarded else "unguarded")
        torch.manual_seed(0)
        torch_xla.manual_seed(0)
        with trace_patches(subject.model, inputs):
            graph = trace(subject.model, inputs, guarded)
        outputs = tensor_leaves(graph.output).values()
        found.append(lazy.program_of([leaf for leaf in outputs if leaf.device.type == "xla"]))
    return found
