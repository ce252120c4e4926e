"""Models that compare or align text with images, documents or video."""

from __future__ import annotations

from testing.generated import export_tests
from tests.models.areas import AREAS

globals().update(export_tests(__name__, AREAS["image_text"]))
