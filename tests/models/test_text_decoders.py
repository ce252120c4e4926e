"""Decoders of text."""

from __future__ import annotations

from testing.generated import export_tests
from tests.models.areas import AREAS

globals().update(export_tests(__name__, AREAS["text_decoders"]))
