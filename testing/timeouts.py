"""Seconds that a case may take, from the same places as pytest-timeout's."""

from __future__ import annotations

import math

import pytest

__all__ = ["DEFAULT_TIMEOUT", "timeout_of"]

DEFAULT_TIMEOUT = 1000.0
"""Seconds that a case may take when no marker and no option says otherwise."""

_UNLIMITED = 7 * 24 * 3600.0
"""What 0 stands for, which in pytest-timeout means no limit."""


def timeout_of(item: pytest.Item | None) -> float:
    """Limit in seconds: the ``timeout`` marker, else ``--timeout``, else the ini option.

    Raises:
        pytest.UsageError: The given limit is no number of seconds.
    """
    given = _given(item) if item is not None else None
    try:
        seconds = DEFAULT_TIMEOUT if given in (None, "") else float(str(given))
    except ValueError:
        raise pytest.UsageError(f"a timeout is a number of seconds, not {given!r}") from None
    return seconds if math.isfinite(seconds) and seconds > 0 else _UNLIMITED


def _given(item: pytest.Item) -> object:
    marker = item.get_closest_marker("timeout")
    if marker is not None:
        return marker.args[0] if marker.args else marker.kwargs.get("timeout")
    option = item.config.getoption("timeout", None)
    if option is not None or not item.config.pluginmanager.hasplugin("timeout"):
        return option
    ini: object = item.config.getini("timeout")
    return ini
