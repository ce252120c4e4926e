"""Generation: the components that a case exports, and the greedy loop that drives them.

Imported where a case runs only, since it imports torch.
"""

from __future__ import annotations

from testing.generation.greedy import GREEDY, drive
from testing.generation.parts import parts_of

__all__ = ["GREEDY", "drive", "parts_of"]
