"""Which ops read the device for which arguments, found by trying them.

Which ops do that depends on their arguments, and no list of them is kept. Each distinct call is
tried first on throw-away tensors of the same shapes; what moves torch_xla's counters falls back
or reads the device (see ``torch_xla.debug.metrics``).
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any, Final

import torch
from torch.utils._pytree import tree_flatten, tree_map

from exporters.neuron import lazy
from exporters.neuron.ops import name_of

__all__ = ["SCALAR_READ", "Readers"]

SCALAR_READ: Final = "aten::_local_scalar_dense"
"""What ``torch.tensor([x.sum()])`` calls beneath every dispatch mode."""


class Readers:
    """What is known of the calls of one trace.

    Attributes:
        scalar_reads: How often scalars were read where torch_xla does not count it.
    """

    def __init__(self) -> None:
        self.scalar_reads = 0
        self._probed: dict[tuple[Any, ...], tuple[str, ...]] = {}

    def of(self, func: Any, args: Any, kwargs: Any) -> tuple[str, ...]:
        """Names of the aten ops that read the device when `func` runs on such arguments."""
        key = _signature(func, args, kwargs)
        if key not in self._probed:
            self._probed[key] = self._probe(func, args, kwargs)
        return self._probed[key]

    def _probe(self, func: Any, args: Any, kwargs: Any) -> tuple[str, ...]:
        device = lazy.device()
        if torch.Tag.nondeterministic_seeded in func.tags:
            # Here a trial would move the device's random state on, and with it the graph.
            spare = lazy.spare_device()
            if spare is None:
                return () if lazy.is_lowered(name_of(func)) else (name_of(func),)
            device = spare
        args, kwargs = tree_map(partial(_throw_away, device=device), (args, kwargs))
        before, scalars = lazy.read_counters(), self.scalar_reads
        # Throw-away values may be outside the op's domain; what it read before it said so counts.
        with torch.random.fork_rng(devices=[]), suppress(Exception):
            func(*args, **kwargs)
        counts = lazy.read_counters()
        moved = [name for name, count in counts.items() if count != before.get(name, 0)]
        moved += [SCALAR_READ] if self.scalar_reads != scalars else []
        fallbacks = tuple(name for name in moved if name.startswith("aten::"))
        return fallbacks or ((name_of(func),) if moved else ())


def _signature(func: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
    leaves, structure = tree_flatten((args, kwargs))
    described = [
        (leaf.device.type, leaf.shape, leaf.dtype)
        if isinstance(leaf, torch.Tensor)
        else repr(leaf)
        for leaf in leaves
    ]
    return func, structure, tuple(described)


def _throw_away(value: Any, device: torch.device) -> Any:
    """What stands for an argument of an op in a trial on `device`."""
    if isinstance(value, torch.Generator):
        return torch.Generator().set_state(value.get_state())
    if isinstance(value, torch.device):
        return device if value.type == "xla" else value
    if not isinstance(value, torch.Tensor):
        return value
    if value.device.type != "xla":
        return value.clone()
    return torch.zeros(value.shape, dtype=value.dtype).to(device)
