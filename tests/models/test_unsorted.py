"""Model types of the installed transformers that no area lists yet."""

from __future__ import annotations

from testing.generated import export_tests, unsorted_types
from tests.models.areas import AREAS

globals().update(export_tests(__name__, unsorted_types(AREAS.values())))
