"""How many workers this machine has cores and devices for."""

from __future__ import annotations

from collections.abc import Iterator

from exporters import BACKENDS, get_backend
from exporters.base import BackendIncompatibleError, BackendUnavailableError, DevicesError
from testing.parallel import cpus
from testing.settings import RunSettings

__all__ = ["check_workers", "most_workers"]


def most_workers(settings: RunSettings) -> int:
    """How many workers can run at one time, each with a core and, where needed, a device.

    Raises:
        DevicesError: The user's choice of devices is not valid.
    """
    return min([cpus(), *(count for _, count in _limits(settings))])


def check_workers(workers: int, settings: RunSettings) -> None:
    """Refuse a number of workers for which there are not enough devices.

    Raises:
        DevicesError: There are not, or the user's choice of devices is not valid.
    """
    for name, count in _limits(settings):
        if workers > count:
            raise DevicesError(
                f"{workers} workers cannot share what the backend {name} runs on, which is "
                f"{count} here, and a process keeps what it has: ask for {count} at most"
            )


def _limits(settings: RunSettings) -> Iterator[tuple[str, int]]:
    """The backends of a run that need a device for each process, and how many there are."""
    for backend in map(get_backend, settings.backends or BACKENDS):
        try:
            count = backend.devices(settings.runtime_of(backend))
        except (BackendUnavailableError, BackendIncompatibleError):
            continue
        if count is not None:
            yield backend.name, count
