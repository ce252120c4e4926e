"""Shares of a run: every class is in exactly one, the same everywhere."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from testing.durations import durations_of
from testing.journal import Journal
from testing.results import CaseResult, Outcome
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


def loads(durations: dict[str, int], count: int) -> list[int]:
    """Milliseconds of each shard."""
    shards = [Shard(index, count).balanced(durations) for index in range(1, count + 1)]
    return [
        sum(taken for name, taken in durations.items() if shard.holds(name)) for shard in shards
    ]


def some_durations(seed: int, number: int = 200) -> dict[str, int]:
    dice = random.Random(seed)
    return {f"M{index}Model": dice.randrange(1, 10_000) for index in range(number)}


@pytest.mark.parametrize("count", [1, 2, 3, 10])
@pytest.mark.parametrize("seed", range(5))
def test_by_durations_no_shard_has_more_than_its_part_and_a_class(seed: int, count: int) -> None:
    durations = some_durations(seed)
    found = loads(durations, count)
    assert sum(found) == sum(durations.values())
    assert max(found) - min(found) <= max(durations.values())


def test_the_longest_are_apart() -> None:
    # 7 + 4 + 2 and 6 + 5 + 2: by hand, the longest first to the least loaded.
    assert sorted(loads({"A": 7, "B": 6, "C": 5, "D": 4, "E": 2, "F": 2}, 2)) == [13, 13]


def test_the_order_of_durations_changes_nothing() -> None:
    durations = some_durations(7)
    names = list(durations)
    random.Random(1).shuffle(names)
    shuffled = {name: durations[name] for name in names}
    assert Shard(2, 5).balanced(durations).places == Shard(2, 5).balanced(shuffled).places


def test_classes_without_a_duration_are_each_in_one_shard() -> None:
    known = dict.fromkeys(swept_classes()[:50], 10)
    shards = [Shard(index, 4).balanced(known) for index in range(1, 5)]
    assert all(sum(shard.holds(name) for shard in shards) == 1 for name in swept_classes())


def row(case_id: str, model_class: str, attempt: int = 1, **seconds: float) -> CaseResult:
    facts = {"backend": "neuron", "runtime": "xla", "variant": "static", "model_type": None}
    return CaseResult(
        case_id=case_id,
        model_class=model_class,
        generate=False,
        static_cache=False,
        outcome=Outcome.PASSED,
        attempt=attempt,
        seconds=seconds,
        **facts,  # type: ignore[arg-type]
    )


def test_durations_are_those_of_all_cases_of_a_class(tmp_path: Path) -> None:
    for worker, written in (
        ("gw0", [row("a", "AModel", eager=0.5, run=1.5), row("b", "AModel", run=0.25)]),
        ("gw1", [row("a", "AModel", 2, run=1.0), row("c", "BModel", run=3.0), row("d", "CModel")]),
    ):
        for result in written:
            Journal(tmp_path, worker).append(result)
    Journal(tmp_path / "shard-2").append(row("e", "EModel", run=0.5))
    assert durations_of(tmp_path) == {"AModel": 2250, "BModel": 3000, "EModel": 500}
