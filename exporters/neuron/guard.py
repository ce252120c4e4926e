"""The guard: an op that would read a placeholder becomes a Python exception.

An aten op that torch_xla cannot lower is run on the CPU, and so its operands are read. While
tracing, parameters and buffers are placeholders without a buffer: reading one, or anything that
derives from one, aborts or segfaults. Which ops do that depends on their arguments, and no list
of them is kept. Each distinct call is tried first on throw-away tensors of the same shapes; what
moves torch_xla's counters falls back or reads the device (see ``torch_xla.debug.metrics``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final

import torch
from torch import _tensor_str
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only

from exporters.base import BakedRead
from exporters.neuron import lazy
from exporters.neuron.errors import UnloweredOpError
from exporters.neuron.flat import Watch
from exporters.neuron.frames import model_lines, running_module
from exporters.neuron.origins import Origin, Origins, named_weights

__all__ = ["LoweringGuard", "watch_forward"]

# What ``torch.tensor([x.sum()])`` calls beneath every dispatch mode, so that it is checked where
# it runs too.
_SCALAR_READ: Final = "aten::_local_scalar_dense"


class LoweringGuard(TorchDispatchMode):
    """Checks every op of a trace before it runs; the traced graph is the same with and without.

    Args:
        model: The model that is traced, to name its modules.
        origins: What the placeholders and inputs of the trace are called.

    Raises:
        UnloweredOpError: From the model's own line that runs the op.
    """

    def __init__(self, model: torch.nn.Module, origins: Origins) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.baked_reads: dict[BakedRead, None] = {}
        self._origins = origins
        self._modules = {module: name for name, module in model.named_modules()}
        self._probed: dict[tuple[Any, ...], tuple[str, ...]] = {}
        self._scalar_reads = 0
        self._refused: UnloweredOpError | None = None
        self._library: Any = None

    def __enter__(self) -> LoweringGuard:
        self._library = self._override(_SCALAR_READ)
        # To print a tensor, torch turns every mode off and then reads it.
        self._print: Any = vars(_tensor_str)["_str"]
        vars(_tensor_str)["_str"] = self._checked_print
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        vars(_tensor_str)["_str"] = self._print
        self._library._destroy()
        # Whatever the model, TorchScript or logging made of it: unguarded, the process had died.
        if self._refused is not None and self._refused not in error:
            raise self._refused

    def _checked_print(self, tensor: torch.Tensor, **kwargs: Any) -> Any:
        self._check("aten::_to_copy", _xla_tensors(tensor))
        return self._print(tensor, **kwargs)

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run `func`, unless it would read a placeholder."""
        kwargs = kwargs or {}
        operands = _xla_tensors((args, kwargs))
        if not operands:
            with _functionalization():
                return func(*args, **kwargs)
        readers = self._readers(func, args, kwargs)
        if not readers:
            return func(*args, **kwargs)
        return self._run_reader(func, readers, operands, args, kwargs)

    def _readers(self, func: Any, args: Any, kwargs: Any) -> tuple[str, ...]:
        key = _signature(func, args, kwargs)
        if key not in self._probed:
            self._probed[key] = self._probe(func, args, kwargs)
        return self._probed[key]

    def _probe(self, func: Any, args: Any, kwargs: Any) -> tuple[str, ...]:
        """Names of the aten ops that read the device when `func` runs on throw-away tensors."""
        device = lazy.device()
        if torch.Tag.nondeterministic_seeded in func.tags:
            # Here a trial would move the device's random state on, and with it the graph.
            spare = lazy.spare_device()
            if spare is None:
                return () if lazy.is_lowered(_name(func)) else (_name(func),)
            device = spare
        args, kwargs = tree_map(partial(_throw_away, device=device), (args, kwargs))
        before, scalars = lazy.read_counters(), self._scalar_reads
        # Throw-away values may be outside the op's domain; what it read before it said so counts.
        with torch.random.fork_rng(devices=[]), suppress(Exception):
            func(*args, **kwargs)
        counts = lazy.read_counters()
        moved = [name for name, count in counts.items() if count != before.get(name, 0)]
        moved += [_SCALAR_READ] if self._scalar_reads != scalars else []
        fallbacks = tuple(name for name in moved if name.startswith("aten::"))
        return fallbacks or ((_name(func),) if moved else ())

    def _run_reader(
        self,
        func: Any,
        readers: tuple[str, ...],
        operands: list[torch.Tensor],
        args: Any,
        kwargs: Any,
    ) -> Any:
        """Run an op that reads its operands, or that calls one which reads some of them."""
        inner = [name for name in readers if name != _name(func)]
        if _name(func) in readers or not inner:
            self._check(readers[0], operands)
            return self._derived(func(*args, **kwargs), operands)
        if not any(origin.is_placeholder for origin in self._origins_of(operands)):
            self._check(inner[0], operands)
            return self._derived(func(*args, **kwargs), operands)
        with self._checked(inner):
            return func(*args, **kwargs)

    def _check(self, op: str, operands: list[torch.Tensor]) -> None:
        """Refuse a read of a placeholder; record a read of an input."""
        origins = self._origins_of(operands)
        lines = model_lines()
        nearest = lines[0] if lines else None
        if any(origin.is_placeholder for origin in origins):
            described = "; ".join(self._origins.describe(operand) for operand in operands)
            # The model's own line, as for a crash; a helper of transformers serves many models.
            source = next((line for line in lines if line.startswith("modeling_")), nearest)
            refusal = UnloweredOpError(op, described, running_module(self._modules), source)
            self._refused = self._refused or refusal
            raise refusal
        if origins:
            names = tuple(dict.fromkeys(origin.name for origin in origins))
            self.baked_reads.setdefault(BakedRead(op, names, nearest))

    @contextmanager
    def _checked(self, ops: list[str]) -> Iterator[None]:
        """Check the operands of `ops` where they are called from inside an op with a lowering.

        ``x[mask]`` calls ``nonzero`` on the mask alone, whatever `x` derives from.
        """
        # Reads of scalars are checked all the time.
        libraries = [self._override(op) for op in ops if op != _SCALAR_READ]
        try:
            yield
        finally:
            for library in libraries:
                library._destroy()

    def _override(self, op: str) -> Any:
        packet = getattr(torch.ops.aten, op.removeprefix("aten::").partition(".")[0])
        overload = getattr(packet, op.partition(".")[2] or "default")

        def on_cpu(*args: Any, **kwargs: Any) -> Any:
            operands = _xla_tensors((args, kwargs))
            self._scalar_reads += op == _SCALAR_READ
            self._check(op, operands)
            host_args, host_kwargs = tree_map_only(torch.Tensor, _to_host, (args, kwargs))
            device = operands[0].device
            result = tree_map_only(
                torch.Tensor, lambda t: t.to(device), overload(*host_args, **host_kwargs)
            )
            return self._derived(result, operands)

        create: Any = torch.library.Library
        library = create("aten", "IMPL")
        with warnings.catch_warnings():
            # That a kernel of torch_xla is replaced is the purpose.
            warnings.simplefilter("ignore", UserWarning)
            library.impl(overload, on_cpu, "XLA")
        return library

    def _origins_of(self, operands: list[torch.Tensor]) -> list[Origin]:
        return [origin for operand in operands for origin in self._origins.of(operand)]

    def _derived(self, result: Any, operands: list[torch.Tensor]) -> Any:
        origins = tuple(dict.fromkeys(self._origins_of(operands)))
        for tensor in _xla_tensors(result) if origins else ():
            self._origins.derive(tensor, origins)
        return result


def watch_forward(reads: dict[BakedRead, None]) -> Watch:
    """The guard for a forward that another tracer calls on placeholders of its own.

    Args:
        reads: Gets the values that were read from inputs.

    Returns:
        What gives a context for a model, whose weights are as the tracer has put them, and its
        inputs by name. Where the tracer has put no placeholder, the context does nothing.
    """

    @contextmanager
    def watch(model: torch.nn.Module, inputs: Mapping[str, torch.Tensor]) -> Iterator[None]:
        weights = {n: w for n, w in named_weights(model).items() if lazy.is_placeholder(w)}
        if not weights:
            yield
            return
        lazy_inputs = {name: x for name, x in inputs.items() if x.device.type == "xla"}
        with LoweringGuard(model, Origins(model, weights, lazy_inputs)) as guard:
            yield
        reads.update(guard.baked_reads)

    return watch


def _xla_tensors(tree: Any) -> list[torch.Tensor]:
    return [
        leaf
        for leaf in tree_leaves(tree)
        if isinstance(leaf, torch.Tensor) and leaf.device.type == "xla"
    ]


def _to_host(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.cpu()


def _functionalization() -> Any:
    """Gives factory functions the functionalization that a dispatch mode takes away.

    Without it, writes into views of what they make are silently dropped. Wrapping the results
    afterwards would mend that and still leave another graph: ``arange`` and its like fill an empty
    tensor, and a view of one that was written to is made anew where it is used.
    """
    guard: Any = vars(torch._C)["_SetExcludeDispatchKeyGuard"]
    return guard(torch._C.DispatchKey.Functionalize, False)


def _name(func: Any) -> str:
    """``aten::im2col``: the name under which torch_xla counts the op."""
    name: str = func._schema.name
    overload = func._schema.overload_name
    return f"{name}.{overload}" if overload else name


def _signature(func: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
    described = tree_map_only(
        torch.Tensor, lambda t: (t.device.type, tuple(t.shape), t.dtype), (args, kwargs)
    )
    return func, repr(described)


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
