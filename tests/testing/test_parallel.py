"""Workers: each knows which of how many it is, and has its part of cores and devices."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import nullcontext

import pytest

import exporters
from exporters.base import DevicesError
from testing import parallel
from testing.devices import check_workers, most_workers
from testing.execution.runner import environment_of
from testing.parallel import Worker, run_all, worker
from testing.settings import RunSettings
from tests.testing import stubs


class WithDevices(stubs.NeuronStub):
    def devices(self, runtime: str | None) -> int | None:
        return 2 if runtime == "neuronx" else None

    def share_of_devices(self, runtime: str | None, index: int, count: int) -> Mapping[str, str]:
        return {"DEVICE": f"{index} of {count}"}


@pytest.fixture
def _devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of four cores and two devices."""
    monkeypatch.setitem(exporters.BACKENDS, "neuron", f"{__name__}:WithDevices")
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1, 2, 3})


NEURONX = RunSettings(backends=("neuron",), neuron_runtime="neuronx")


@pytest.mark.parametrize(("workers", "threads"), [(1, 8), (2, 4), (3, 2), (8, 1), (20, 1)])
def test_workers_use_each_core_once(
    monkeypatch: pytest.MonkeyPatch, workers: int, threads: int
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(parallel, "cpus", lambda: 8)
    assert Worker(0, workers).threads == threads


def test_a_number_of_threads_that_was_given_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert Worker(0, 8).threads == 3


def test_each_thread_is_a_worker_of_its_own() -> None:
    together, before = threading.Barrier(3), worker.get()

    def run(number: int) -> Worker:
        together.wait(timeout=30)
        return worker.get()

    seen = {found for _, found in run_all(range(3), 3, lambda: nullcontext(run))}
    assert seen == {Worker(0, 3), Worker(1, 3), Worker(2, 3)}
    assert worker.get() == before


@pytest.mark.usefixtures("_devices")
def test_a_worker_sees_its_part_of_the_devices() -> None:
    token = worker.set(Worker(1, 2))
    try:
        assert environment_of(WithDevices(), "neuronx", {}) == {"DEVICE": "1 of 2"}
    finally:
        worker.reset(token)


@pytest.mark.usefixtures("_devices")
def test_there_are_no_more_workers_than_devices() -> None:
    assert most_workers(NEURONX) == 2
    assert most_workers(RunSettings(backends=("neuron",), neuron_runtime="xla")) == 4
    check_workers(2, NEURONX)
    with pytest.raises(DevicesError, match="3 workers .* neuron .* ask for 2 at most"):
        check_workers(3, NEURONX)
