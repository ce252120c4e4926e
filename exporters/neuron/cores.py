"""Which NeuronCores there are, and how processes that run at one time divide them.

A process reserves every core that it sees until it ends, so that a second one that sees any of
them fails or waits: https://awsdocs-neuron.readthedocs-hosted.com, "Neuron Runtime configuration".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from exporters.base import DevicesError

__all__ = ["NUMBER", "VISIBLE", "found", "share"]

VISIBLE: Final = "NEURON_RT_VISIBLE_CORES"
NUMBER: Final = "NEURON_RT_NUM_CORES"

_DEVICES: Final = Path("/dev")
_SYSFS: Final = Path("/sys/devices/virtual/neuron_device")
# Of a chip of inf2 and trn1; the driver's own folders tell where it is another number.
_CORES_OF_A_DEVICE: Final = 2


def found(
    environment: Mapping[str, str], devices: Path = _DEVICES, sysfs: Path = _SYSFS
) -> tuple[int, ...]:
    """Numbers of the cores that may be used; none where there is no device.

    Args:
        environment: What the user has set: a choice of cores, or how many.
        devices: Directory that has ``neuron0`` and so on.
        sysfs: Directory in which the driver tells the cores of each.

    Raises:
        DevicesError: A variable is no range, list or number.
    """
    chosen = environment.get(VISIBLE, "").strip()
    if chosen:
        return _parsed(chosen)
    names = [path.name for path in devices.glob("neuron*") if path.name[6:].isdigit()]
    there = tuple(range(sum(_cores_of(sysfs / name) for name in names)))
    wanted = environment.get(NUMBER, "").strip() or "0"
    if not wanted.isdigit():
        raise DevicesError(f"{NUMBER} is a number of cores, and not {wanted!a}")
    # 0 stands for all of them.
    return there[: int(wanted)] if int(wanted) else there


def share(cores: tuple[int, ...], index: int, count: int) -> Mapping[str, str]:
    """The variables by which one of `count` processes sees cores that no other sees.

    Args:
        cores: Those that are divided.
        index: Which of the processes, from 0.
        count: How many there are.

    Raises:
        DevicesError: There are fewer cores than processes.
    """
    if count > len(cores):
        raise DevicesError(f"{count} workers cannot share {len(cores)} NeuronCores")
    own = cores[index * len(cores) // count : (index + 1) * len(cores) // count]
    return {VISIBLE: ",".join(map(str, own)), NUMBER: str(len(own))}


def _cores_of(device: Path) -> int:
    return len(list(device.glob("neuron_core*"))) or _CORES_OF_A_DEVICE


def _parsed(text: str) -> tuple[int, ...]:
    """The numbers of ``0-3``, ``2`` or ``0,2-3``."""
    cores: dict[int, None] = {}
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*", part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise DevicesError(f"{VISIBLE} is a core, a range or a list of them, and not {text!a}")
        cores.update(dict.fromkeys(range(int(match[1]), int(match[2] or match[1]) + 1)))
    return tuple(cores)
