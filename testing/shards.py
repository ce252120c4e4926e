"""A share of a run, for one of several machines."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

__all__ = ["Shard", "ShardError"]


class ShardError(ValueError):
    """What was given is no share ``I/N``."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!a} is no shard: give I/N with 1 <= I <= N, such as 1/10")


@dataclass(frozen=True)
class Shard:
    """Share `index` of `count`, counted from 1.

    A model class belongs to one shard whatever else there is, so that shards are the same on
    every machine, and all cases of a class share its imports. Which one that is follows from its
    name, or from how long each class took.

    Attributes:
        index: From 1.
        count: How many there are.
        places: Index of the shard of each class whose duration is known.
    """

    index: int
    count: int
    places: Mapping[str, int] = field(default_factory=dict, hash=False)

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

    def balanced(self, durations: Mapping[str, int]) -> Shard:
        """The same share where classes are divided by how long they took.

        The longest goes first, each to the shard that has least so far: no shard then takes more
        than a third longer than in the best division (Graham, 1969). What has no duration is
        divided by name, as evenly as names are.

        Args:
            durations: Milliseconds of each model class; whole numbers, whose sum does not depend
                on their order. Machines that are given the same agree on every class.
        """
        load = [0] * self.count
        places: dict[str, int] = {}
        for name, taken in sorted(durations.items(), key=lambda item: (-item[1], item[0])):
            least = load.index(min(load))
            load[least] += taken
            places[name] = least + 1
        return replace(self, places=places)

    def holds(self, model_class: str) -> bool:
        """Whether the cases of a model class belong to it."""
        by_name = zlib.crc32(model_class.encode()) % self.count + 1
        return self.places.get(model_class, by_name) == self.index
