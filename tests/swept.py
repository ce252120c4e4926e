"""The model classes that the test classes under ``tests/models`` name by their model types."""

from __future__ import annotations

import re
from pathlib import Path

from testing.auto_classes import UnknownModelTypeError, classes_of

_MODELS = Path(__file__).parent / "models"


def swept_classes() -> list[str]:
    """Every class of the model types, each once, in the order of the files.

    A model type that transformers does not have fails the test class that names it, and no other.
    """
    sources = [file.read_text() for file in sorted(_MODELS.glob("test_*.py"))]
    types = re.findall(r"""model_type = ["'](.+)["']""", "".join(sources))
    return list(dict.fromkeys(name for model_type in types for name in _classes(model_type)))


def _classes(model_type: str) -> tuple[str, ...]:
    try:
        return classes_of(model_type)
    except UnknownModelTypeError:
        return ()
