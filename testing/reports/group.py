"""Cases of which the same is to be said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Group", "grouped"]

_Case = TypeVar("_Case")


@dataclass(frozen=True)
class Group(Generic[_Case]):
    """Some cases, and what is said of all of them.

    Attributes:
        said: The sentence of the first of them.
        cases: At least one.
    """

    said: str
    cases: Sequence[_Case]


def grouped(
    said: Iterable[tuple[_Case, str]], by: Callable[[_Case, str], str]
) -> list[Group[_Case]]:
    """Groups, the largest first, else in the order of their first cases.

    Args:
        said: Each case with its sentence.
        by: Of a case and its sentence, what the cases of a group share.
    """
    groups: dict[str, list[tuple[_Case, str]]] = {}
    for case, text in said:
        groups.setdefault(by(case, text), []).append((case, text))
    found = [Group(of_one[0][1], [case for case, _ in of_one]) for of_one in groups.values()]
    return sorted(found, key=lambda group: -len(group.cases))
