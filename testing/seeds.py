"""The seed of every run, and setting it."""

from __future__ import annotations

import random
import sys
from typing import Final

import torch

__all__ = ["SEED", "set_seed"]

SEED: Final = 0
"""Seed of every run; see `set_seed`."""


def set_seed(seed: int = SEED) -> None:
    """Seed every generator that a model may draw from on the CPU: Python's, NumPy's, torch's."""
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
