"""Shares of a run: every class is in exactly one, the same everywhere."""

from __future__ import annotations

import pytest

from testing.shards import Shard, ShardError
from tests.swept import swept_classes


@pytest.mark.parametrize("count", [1, 2, 10])
def test_every_class_is_in_exactly_one(count: int) -> None:
    shards = [Shard(index, count) for index in range(1, count + 1)]
    assert all(sum(shard.holds(name) for shard in shards) == 1 for name in swept_classes())


def test_a_share_of_ten_is_about_a_tenth() -> None:
    classes = swept_classes()
    shares = [sum(Shard(index, 10).holds(name) for name in classes) for index in range(1, 11)]
    assert max(shares) < 1.5 * min(shares)


def test_it_is_parsed() -> None:
    assert Shard.parse("3/10") == Shard(3, 10)


@pytest.mark.parametrize("text", ["", "0/10", "11/10", "1", "1/0", "a/b", "-1/3", "1/2/3"])
def test_what_is_none_is_told(text: str) -> None:
    with pytest.raises(ShardError, match="is no shard: give I/N"):
        Shard.parse(text)
