"""Generation: the components that a case exports, and the greedy loop that drives them.

Imported where a case runs only, since it imports torch.
"""

from __future__ import annotations

from testing.generation.greedy import after_parts
from testing.generation.parts import parts_of

__all__ = ["after_parts", "parts_of"]
