"""What lowers to ExecuTorch and runs there imports; its threads are made at the first run."""

from __future__ import annotations

import exporters.dynamo.preloaded  # noqa: F401
from exporters.hf.toolkit import exporter_of

__all__: list[str] = []

exporter_of("executorch")
