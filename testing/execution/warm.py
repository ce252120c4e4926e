"""Imported by the fork server before it forks: what every child would compute for itself.

Importing this module is what computes it. Nothing here touches a device.
"""

from __future__ import annotations

import contextlib

from testing import auto_classes

__all__: list[str] = []

with contextlib.suppress(auto_classes.TransformersMissingError):
    # Reads transformers' auto mappings, which takes half a second, and keeps them.
    auto_classes.model_types_of("")
