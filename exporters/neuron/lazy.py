"""The calls of torch_xla that have no public name, in one place and with types.

Written for torch-xla 2.9; ``tests/exporters/test_xla.py`` and ``test_guard.py`` show what they do.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

import torch
import torch_xla
from torch_xla.core.xla_builder import create_placeholder_tensor
from torch_xla.core.xla_model import get_stablehlo_bytecode
from torch_xla.utils.dlpack import from_dlpack

from exporters.base import IN_PLACE_ALIGNMENT

__all__ = [
    "compile_graph",
    "device",
    "graph_leaves",
    "is_lowered",
    "is_placeholder",
    "leaf_of",
    "placeholder",
    "program_of",
    "read",
    "read_counters",
    "run_compiled",
    "run_stablehlo",
    "share",
    "spare_device",
    "stablehlo",
    "tensor_id",
    "to_device",
]

_C: Any = vars(torch_xla)["_XLAC"]
_TRANSFERS: Final = "TransferFromDeviceTime"
_LARGE: Final = 2**20
"""Bytes from which on a tensor is worth sharing."""


def device() -> torch.device:
    """The XLA device; the first call starts the runtime's client."""
    return torch_xla.device()


def spare_device() -> torch.device | None:
    """Another XLA device than `device`, with random numbers of its own; None where it is one."""
    others = [f"xla:{place.rpartition(':')[2]}" for place in _C._xla_get_devices()]
    found = [torch.device(name) for name in others if torch.device(name) != device()]
    return found[0] if found else None


def to_device(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` on the XLA device as data, whatever its value.

    torch_xla makes a scalar of 0 or 1 a constant of the graph otherwise.
    """
    before = _C._get_xla_handle_special_scalars()
    _C._set_xla_handle_special_scalars(False)
    try:
        return tensor.to(device())
    finally:
        _C._set_xla_handle_special_scalars(before)


def share(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` on the XLA device, without a copy where it is large and the client can use it.

    It must not change as long as the result is used. Weights of gigabytes have no room for two.
    """
    is_aligned = tensor.data_ptr() % IN_PLACE_ALIGNMENT == 0
    if tensor.nbytes < _LARGE or not is_aligned or not tensor.is_contiguous():
        return to_device(tensor)
    if torch_xla.device().index != 0 or os.environ.get("PJRT_DEVICE") != "CPU":
        return to_device(tensor)
    capsule = vars(torch._C)["_to_dlpack"](tensor.detach())
    view: torch.Tensor = from_dlpack(capsule)
    return view


def placeholder(shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """A tensor on the XLA device that has no buffer: reading it ends the process."""
    create: Any = create_placeholder_tensor
    tensor: torch.Tensor = create(tuple(shape), dtype)
    return tensor


def is_placeholder(tensor: torch.Tensor) -> bool:
    """Whether a tensor on the XLA device has no buffer."""
    return tensor.device.type == "xla" and bool(_C._is_placecholder(tensor))


def tensor_id(tensor: torch.Tensor) -> int:
    """The id that torch_xla gives to a lazy tensor."""
    return int(_C._xla_get_tensor_id(tensor))


def graph_leaves(tensors: Sequence[torch.Tensor]) -> list[tuple[int, torch.Tensor]]:
    """The data that the graph of `tensors` starts at: tensor id and value of each.

    Scalars that torch_xla shares between graphs have the id -1.
    """
    ids, values = _C._get_tensors_xla_device_data_node(list(tensors))
    return list(zip(ids, values, strict=True))


def leaf_of(tensor: torch.Tensor) -> tuple[int, torch.Tensor] | None:
    """The leaf that `tensor` is, or is a whole copy of; None where the graph computes it.

    A leaf is silently left out of the results of a compiled graph.
    """
    leaves = graph_leaves([tensor])
    if len(leaves) != 1:
        return None
    if leaves[0][0] == tensor_id(tensor):
        return leaves[0]
    text: str = _C._get_xla_tensors_text([tensor])
    nodes = [line for line in text.splitlines() if " = " in line]
    return leaves[0] if len(nodes) == 1 and "xla::device_data" in nodes[0] else None


def compile_graph(tensors: Sequence[torch.Tensor]) -> str:
    """Compile the graph of `tensors`; the key under which `run_compiled` finds it.

    Args:
        tensors: Distinct tensors, none of which is a leaf (`leaf_of`).
    """
    outputs = list(tensors)
    key: str = _C._get_graph_hash(outputs)
    _C._xla_warm_up_cache(outputs, [])
    return key


def run_compiled(key: str, arguments: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Run a compiled graph; `arguments` stand in the order of `graph_leaves`."""
    results: list[torch.Tensor] = _C._run_cached_graph(key, list(arguments))
    return results


def stablehlo(tensors: Sequence[torch.Tensor]) -> bytes:
    """The graph of `tensors` as StableHLO bytecode; its arguments are those of `graph_leaves`."""
    export: Any = get_stablehlo_bytecode
    program: bytes = export(list(tensors))
    return program


def run_stablehlo(program: bytes, arguments: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Compile and run StableHLO bytecode; slower than `run_compiled` by the compilation."""
    results: list[torch.Tensor] = _C._run_stablehlo(program, list(arguments))
    return results


def read(tensor: torch.Tensor) -> torch.Tensor:
    """The value of a lazy tensor, which stays as lazy as it was.

    ``tensor.cpu()`` makes what it reads a leaf of the graph, and so a constant of the program.
    """
    values: list[torch.Tensor] = _C._xla_get_cpu_tensors([tensor])
    return values[0]


def program_of(tensors: Sequence[torch.Tensor]) -> str:
    """The graph of `tensors` as HLO text; the same for graphs that compute the same."""
    text: str = _C._get_xla_tensors_hlo(list(tensors))
    return text


def read_counters() -> dict[str, int]:
    """How often each aten op has fallen back, and how often a value was read from the device."""
    names = [name for name in _C._xla_counter_names() if name.startswith("aten::")]
    counts: dict[str, int] = {name: _C._xla_counter_value(name) for name in names}
    transfers = _C._xla_metric_data(_TRANSFERS)
    counts[_TRANSFERS] = transfers[0] if transfers else 0
    return counts


def is_lowered(name: str) -> bool:
    """Whether the dispatcher has a kernel for this op on the XLA device, or takes it apart."""
    keys = ("XLA", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
    has_kernel: Any = vars(torch._C)["_dispatch_has_kernel_for_dispatch_key"]
    return any(has_kernel(name, key) for key in keys)
