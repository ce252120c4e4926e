"""What the tests of `testing` share: they are no workers; a project with doubles of backends."""

from __future__ import annotations

import pytest

import exporters
from testing import execution
from tests.testing import stubs
from tests.testing.plugin_runs import ROOT


@pytest.fixture(autouse=True)
def _is_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests may run in a worker themselves; what they write is not named after it."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A directory whose runs know two backends, of which ``neuron`` is installed."""
    monkeypatch.setattr(execution, "execute", stubs.execute)
    monkeypatch.delenv("RUN_SLOW", raising=False)
    for name in list(exporters.BACKENDS):
        monkeypatch.delitem(exporters.BACKENDS, name)
    for name, place in stubs.BACKENDS.items():
        monkeypatch.setitem(exporters.BACKENDS, name, place)
    stubs.requests.clear()
    # For runs in processes of their own.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return pytester
