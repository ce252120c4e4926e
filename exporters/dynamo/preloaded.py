"""What exports with torch.export import, and look up at the first export."""

from __future__ import annotations

import torch
import tqdm

import exporters.plain.dynamo
from exporters.hf import has_exporters

__all__: list[str] = []

if has_exporters():
    import exporters.dynamo.program  # noqa: F401
    from exporters.hf.toolkit import exporter_of, look_up_patches

    exporter_of("dynamo")
    look_up_patches("dynamo")

# A thread that watches progress bars would not live on in a child.
tqdm.tqdm.monitor_interval = 0
torch.export.export(torch.nn.Identity(), (torch.ones(2),)).run_decompositions()
