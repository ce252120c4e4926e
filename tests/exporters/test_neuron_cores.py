"""NeuronCores are found and divided so that no two processes share one."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from exporters.base import DevicesError
from exporters.neuron import cores
from exporters.neuron.backend import NeuronBackend


@pytest.fixture
def devices(tmp_path: Path) -> Path:
    """A stand-in for ``/dev`` with three devices and things that are none."""
    folder = tmp_path / "dev"
    folder.mkdir()
    for name in ("neuron0", "neuron1", "neuron2", "neuron", "neuron_x", "null"):
        (folder / name).touch()
    return folder


def found(devices: Path, sysfs: str = "none", **environment: str) -> tuple[int, ...]:
    return cores.found(environment, devices, devices / sysfs)


def test_a_device_of_inf2_has_two_cores(devices: Path) -> None:
    assert found(devices) == (0, 1, 2, 3, 4, 5)


def test_the_driver_tells_another_number(devices: Path) -> None:
    for core in range(8):
        (devices / "sys" / "neuron1" / f"neuron_core{core}").mkdir(parents=True)
    assert len(found(devices, "sys")) == 2 + 8 + 2


def test_there_are_none_without_a_device(tmp_path: Path) -> None:
    assert found(tmp_path) == ()
    assert found(tmp_path, NEURON_RT_NUM_CORES="4") == ()


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [("4", (4,)), ("2-5", (2, 3, 4, 5)), ("0,2-3,3", (0, 2, 3)), (" 1 - 2 ", (1, 2))],
)
def test_the_users_choice_stands(devices: Path, chosen: str, expected: tuple[int, ...]) -> None:
    assert found(devices, NEURON_RT_VISIBLE_CORES=chosen) == expected


def test_the_users_number_stands_and_zero_is_all(devices: Path) -> None:
    assert found(devices, NEURON_RT_NUM_CORES="2") == (0, 1)
    assert found(devices, NEURON_RT_NUM_CORES="0") == (0, 1, 2, 3, 4, 5)


@pytest.mark.parametrize("chosen", ["x", "3-1", "1-", "1,,2", "-1"])
def test_a_choice_that_is_none_is_told(devices: Path, chosen: str) -> None:
    with pytest.raises(DevicesError, match="NEURON_RT_VISIBLE_CORES is a core"):
        found(devices, NEURON_RT_VISIBLE_CORES=chosen)


def test_a_number_that_is_none_is_told(devices: Path) -> None:
    with pytest.raises(DevicesError, match="NEURON_RT_NUM_CORES is a number"):
        found(devices, NEURON_RT_NUM_CORES="two")


@pytest.mark.parametrize(("number", "workers"), [(2, 1), (2, 2), (6, 4), (7, 3), (32, 31)])
def test_no_two_workers_share_a_core_and_none_is_idle(number: int, workers: int) -> None:
    shares = [cores.share(tuple(range(number)), index, workers) for index in range(workers)]
    own = [share["NEURON_RT_VISIBLE_CORES"].split(",") for share in shares]
    assert sorted(int(core) for of_one in own for core in of_one) == list(range(number))
    assert [int(share["NEURON_RT_NUM_CORES"]) for share in shares] == [len(o) for o in own]


def test_more_workers_than_cores_is_refused() -> None:
    with pytest.raises(DevicesError, match="3 workers cannot share 2 NeuronCores"):
        cores.share((0, 1), 0, 3)


def test_a_process_that_has_its_share_does_not_divide_it_again(
    monkeypatch: pytest.MonkeyPatch, devices: Path
) -> None:
    here = partial(cores.found, devices=devices, sysfs=devices / "none")
    monkeypatch.setattr(cores, "found", here)
    backend = NeuronBackend()
    for _ in range(2):
        share = backend.share_of_devices("neuronx", 1, 3)
        assert share["NEURON_RT_VISIBLE_CORES"] == "2,3"
        for name, value in share.items():
            monkeypatch.setenv(name, value)
    assert backend.share_of_devices("neuronx", 0, 1) == {}
    assert backend.share_of_devices("xla", 1, 3) == {}
