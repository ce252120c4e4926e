"""Tiny models of transformers: `build` gives one with random weights, and inputs for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testing.tiny.errors import (
    ConfigDefaultsError,
    ImpossibleModelError,
    MissingPackageError,
    NotAModelClassError,
    NoTinyModelError,
    UnknownModelClassError,
)

if TYPE_CHECKING:
    from testing.subject import Subject

__all__ = [
    "ConfigDefaultsError",
    "ImpossibleModelError",
    "MissingPackageError",
    "NoTinyModelError",
    "NotAModelClassError",
    "UnknownModelClassError",
    "build",
]


def build(model_class: str, seed: int = 0) -> Subject:
    """A tiny model of a class in eval mode, and its inputs.

    Args:
        model_class: Name of the class, such as ``BertModel``.
        seed: Seed of the weights and of the inputs.

    Raises:
        NoTinyModelError: There is none; the subclass and its message say why.
    """
    # Importing this package must not import torch: collection does.
    from testing.tiny.builder import build_subject

    return build_subject(model_class, seed)
