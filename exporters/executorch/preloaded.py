"""What lowers to ExecuTorch and runs there imports; its threads are made at the first run."""

from __future__ import annotations

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower

import exporters.dynamo.preloaded  # noqa: F401
from exporters.hf.toolkit import exporter_of, look_up_patches

__all__: list[str] = []

exporter_of("executorch")
look_up_patches("executorch", "executorch.xnnpack")

# The first lowering makes the graphs that XNNPACK's passes look for: a quarter of a small case's
# time.
to_edge_transform_and_lower(
    torch.export.export(torch.nn.Linear(2, 2), (torch.ones(2, 2),)),
    partitioner=[XnnpackPartitioner()],
)
