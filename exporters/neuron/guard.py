"""The guard: an op that would read a placeholder is done in another way, or refused.

An aten op that torch_xla cannot lower is run on the CPU, and so its operands are read. While
tracing, parameters and buffers are placeholders without a buffer: reading one, or anything that
derives from one, aborts or segfaults. What can be done about it is the `Lowerer`'s; what is left
becomes a Python exception.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import _tensor_str
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from exporters.neuron import lazy
from exporters.neuron.errors import UnloweredOpError
from exporters.neuron.frames import model_line, running_module
from exporters.neuron.lowerer import UNANSWERED, Lowerer
from exporters.neuron.ops import functionalization, name_of, overload_of, xla_tensors
from exporters.neuron.readers import SCALAR_READ, Readers
from exporters.neuron.reads import ReadLog

__all__ = ["LoweringGuard"]


class _EveryOp(TorchDispatchMode):
    """Hands every op of a trace to `run`; it may be entered again while it runs one."""

    def __init__(self, run: Callable[[Any, Any, Any], Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._run = run

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        return self._run(func, args, kwargs or {})


class LoweringGuard:
    """Sees every op of a trace before it runs; what XLA lowers gives the same graph with it.

    Args:
        model: The model that is traced, to name its modules.
        reads: Gets the values that are read from inputs.
        lowerer: What answers for ops that read; None lets them read, or refuses them.
        refuses: Whether an op that would read a placeholder raises, or runs and ends the process.

    Raises:
        UnloweredOpError: From the model's own line that runs the op.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        reads: ReadLog,
        lowerer: Lowerer | None = None,
        refuses: bool = True,
    ) -> None:
        self._mode = _EveryOp(self._run)
        self._modules = {module: name for name, module in model.named_modules()}
        self._reads = reads
        self._lowerer = lowerer
        self._refuses = refuses
        self._readers = Readers()
        self._refused: UnloweredOpError | None = None
        self._library: Any = None
        if lowerer is not None:
            lowerer.dispatching = self._mode

    def __enter__(self) -> LoweringGuard:
        # Reads of scalars run beneath the mode too.
        self._library = self._override(SCALAR_READ)
        # To print a tensor, torch turns every mode off and then reads it.
        self._print: Any = vars(_tensor_str)["_str"]
        vars(_tensor_str)["_str"] = self._checked_print
        self._mode.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        self._mode.__exit__(*error)  # type: ignore[no-untyped-call]
        vars(_tensor_str)["_str"] = self._print
        self._library._destroy()
        # Whatever the model, TorchScript or logging made of it: unguarded, the process had died.
        if self._refused is not None and self._refused not in error:
            raise self._refused

    def _checked_print(self, tensor: torch.Tensor, **kwargs: Any) -> Any:
        if xla_tensors(tensor):
            copy, place = torch.ops.aten._to_copy.default, {"device": torch.device("cpu")}
            answer = self._answer(copy, (tensor,), place)
            tensor = tensor if answer is UNANSWERED else answer
            self._check(name_of(copy), xla_tensors(tensor))
        return self._print(tensor, **kwargs)

    def _run(self, func: Any, args: Any, kwargs: Any) -> Any:
        if self._lowerer is None:
            return self._run_op(func, args, kwargs)
        call = self._lowerer.call(func, args, kwargs)
        result = self._run_op(func, args, kwargs)
        self._lowerer.record(call, result)
        return result

    def _run_op(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Run `func`, unless it would read a placeholder."""
        operands = xla_tensors((args, kwargs))
        if not operands:
            with functionalization():
                return func(*args, **kwargs)
        if self._lowerer is not None:
            lowering = self._lowerer.lowering(func, args, kwargs)
            if lowering is not None and lowering.replaces:
                result = self._lowerer.lower(lowering, args, kwargs)
                if result is not UNANSWERED:
                    return result
        readers = self._readers.of(func, args, kwargs)
        if not readers:
            return func(*args, **kwargs)
        return self._run_reader(func, readers, operands, args, kwargs)

    def _run_reader(
        self,
        func: Any,
        readers: tuple[str, ...],
        operands: list[torch.Tensor],
        args: Any,
        kwargs: Any,
    ) -> Any:
        """Run an op that reads its operands, or that calls one which reads some of them."""
        inner = [name for name in readers if name != name_of(func)]
        reads_itself = name_of(func) in readers or not inner
        answer = self._answer(func, args, kwargs, reads_itself)
        if answer is not UNANSWERED:
            return answer
        if reads_itself:
            self._check(readers[0], operands)
            return self._derived(func(*args, **kwargs), operands)
        reads_input = not any(o.is_placeholder for o in self._reads.origins_of(operands))
        if reads_input and not (self._lowerer and self._lowerer.has_any(inner)):
            self._check(inner[0], operands)
            return self._derived(func(*args, **kwargs), operands)
        with self._checked(inner):
            return func(*args, **kwargs)

    def _answer(self, func: Any, args: Any, kwargs: Any, reads_itself: bool = True) -> Any:
        if self._lowerer is None:
            return UNANSWERED
        return self._lowerer.answer(func, args, kwargs, reads_itself)

    def _check(self, op: str, operands: list[torch.Tensor]) -> None:
        """Refuse a read of a placeholder; record a read of an input."""
        origins = self._reads.origins_of(operands)
        if not any(origin.is_placeholder for origin in origins):
            self._reads.note(op, origins)
        elif self._refuses:
            self._refuse(op, operands)

    def _refuse(self, op: str, operands: list[torch.Tensor]) -> None:
        described = "; ".join(self._reads.origins.describe(operand) for operand in operands)
        # The model's own line, as for a crash.
        refusal = UnloweredOpError(op, described, running_module(self._modules), model_line())
        self._refused = self._refused or refusal
        raise refusal

    @contextmanager
    def _checked(self, ops: list[str]) -> Iterator[None]:
        """Check the operands of `ops` where they are called from inside an op with a lowering.

        ``x[mask]`` calls ``nonzero`` on the mask alone, whatever `x` derives from.
        """
        # Reads of scalars are checked all the time.
        with ExitStack() as stack:
            for op in ops:
                if op != SCALAR_READ:
                    stack.callback(self._override(op)._destroy)
            yield

    def _override(self, op: str) -> Any:
        overload = overload_of(op)

        def kernel(*args: Any, **kwargs: Any) -> Any:
            self._readers.scalar_reads += op == SCALAR_READ
            answer = self._answer(overload, args, kwargs)
            return self._read(overload, args, kwargs) if answer is UNANSWERED else answer

        create: Any = torch.library.Library
        library = create("aten", "IMPL")
        with warnings.catch_warnings():
            # That a kernel of torch_xla is replaced is the purpose.
            warnings.simplefilter("ignore", UserWarning)
            library.impl(overload, kernel, "XLA")
        return library

    def _read(self, overload: Any, args: Any, kwargs: Any) -> Any:
        """Run an op on the CPU, as torch_xla does itself where it has no kernel."""
        operands = xla_tensors((args, kwargs))
        self._check(name_of(overload), operands)
        host_args, host_kwargs = tree_map_only(torch.Tensor, lazy.read, (args, kwargs))
        device = lazy.device()
        result = tree_map_only(
            torch.Tensor, lambda t: t.to(device), overload(*host_args, **host_kwargs)
        )
        return self._derived(result, operands)

    def _derived(self, result: Any, operands: list[torch.Tensor]) -> Any:
        origins = self._reads.origins_of(operands)
        for tensor in xla_tensors(result) if origins else ():
            self._reads.origins.derive(tensor, origins)
        return result
