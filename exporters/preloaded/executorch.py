"""What lowers to ExecuTorch and runs there imports; its threads are made at the first run."""

from __future__ import annotations

import exporters.executorch_program
import exporters.preloaded.dynamo  # noqa: F401
from exporters.hf_toolkit import exporter_of

__all__: list[str] = []

exporter_of("executorch")
