"""What exports with torch.export import."""

from __future__ import annotations

import torch.export  # noqa: F401

import exporters.plain.dynamo
from exporters.hf import has_exporters

__all__: list[str] = []

if has_exporters():
    import exporters.dynamo.program  # noqa: F401
    from exporters.hf.toolkit import exporter_of

    exporter_of("dynamo")
