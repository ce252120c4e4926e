"""A project whose runs know doubles of two backends."""

from __future__ import annotations

import pytest

import exporters
from testing import execution
from tests.testing import stubs
from tests.testing.plugin_runs import ROOT


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A directory whose runs know two backends, of which ``neuron`` is installed."""
    monkeypatch.setattr(execution, "execute", stubs.execute)
    monkeypatch.delenv("RUN_SLOW", raising=False)
    # These tests may run in a worker themselves, and its name is not that of the inner run.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    for name in list(exporters.BACKENDS):
        monkeypatch.delitem(exporters.BACKENDS, name)
    for name, place in stubs.BACKENDS.items():
        monkeypatch.setitem(exporters.BACKENDS, name, place)
    stubs.requests.clear()
    # For runs in processes of their own.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return pytester
