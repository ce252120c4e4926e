"""The model classes that the test classes under ``tests/models`` name by their model types."""

from __future__ import annotations

import re
from pathlib import Path

from testing import auto_classes

_MODELS = Path(__file__).parent / "models"


def swept_classes() -> list[str]:
    """Every class of the model types, in the order of the files."""
    sources = [file.read_text() for file in sorted(_MODELS.glob("test_*.py"))]
    types = re.findall(r'model_type = "(.+)"', "".join(sources))
    return [name for model_type in types for name in auto_classes.classes_of(model_type)]
