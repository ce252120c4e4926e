"""Which model classes a trace patch may be for, read from transformers' source: no torch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from exporters.base import PatchFacts
from testing import auto_classes

__all__ = ["models_of"]

_CLASS: Final = re.compile(r"^class (\w+)\b", re.MULTILINE)


def models_of(patch: PatchFacts) -> tuple[str, ...]:
    """The classes of its model types, else those beside which the code has one of its words.

    What only holds such a model as a part is not among them.

    Raises:
        TransformersMissingError: transformers is not installed.
    """
    if patch.model_types:
        return tuple(sorted(_of_types(patch.model_types)))
    return tuple(sorted({name for word in patch.mentions for name in _beside(word)}))


def _of_types(model_types: tuple[str, ...]) -> Iterator[str]:
    known = auto_classes.model_types()
    for model_type in model_types:
        if model_type in known:
            yield from auto_classes.own_classes(model_type)


@cache
def _beside(word: str) -> frozenset[str]:
    files = (auto_classes.transformers_root() / "models").rglob("modeling_*.py")
    texts = (file.read_text(encoding="utf-8") for file in files)
    found = {name for text in texts if word in text for name in _CLASS.findall(text)}
    return frozenset(found & auto_classes.known_classes())
