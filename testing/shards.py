"""A share of a run, for one of several machines."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

__all__ = ["Shard", "ShardError"]


class ShardError(ValueError):
    """What was given is no share ``I/N``."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!a} is no shard: give I/N with 1 <= I <= N, such as 1/10")


@dataclass(frozen=True)
class Shard:
    """Share `index` of `count`, counted from 1.

    A model class belongs to one shard whatever else there is, by its name, so that shards are the
    same on every machine and in every release, and all cases of a class share its imports.
    """

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The share ``I/N``.

        Raises:
            ShardError: It is not written so, or I is not between 1 and N.
        """
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip())
        index, count = (int(part) for part in found.groups()) if found else (0, 0)
        if not 1 <= index <= count:
            raise ShardError(text)
        return cls(index, count)

    def holds(self, model_class: str) -> bool:
        """Whether the cases of a model class belong to it."""
        return zlib.crc32(model_class.encode()) % self.count == self.index - 1
