"""Reports cross from a worker to the controller, whatever a test has put into them."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from testing.plain import plain

__all__: list[str] = []


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[
    None, dict[str, Any] | None, dict[str, Any] | None
]:
    """Turn what xdist's channel cannot carry into text; it would end the whole run."""
    data = yield
    return None if data is None else plain(data)
