"""Every op of one forward and what becomes of it in a trace, without ending at the first refusal.

The model is traced as it is for export, with every lowering. What the guard refuses, and what
raises on the device alone, is computed from the tape in eager instead and enters the graph as
data, so that the forward goes on as it would in eager. Not seen is what the forward does not reach
with these inputs, and where a value comes from once it has been in Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import torch

from exporters.base import Diagnosis, OpStatus, OpUse, Selection
from exporters.flat import Binding
from exporters.neuron import lazy
from exporters.neuron.errors import UnloweredOpError
from exporters.neuron.folding import Folds
from exporters.neuron.frames import model_line, raised_at, running_module
from exporters.neuron.graph import placeholders_of
from exporters.neuron.guard import LoweringGuard
from exporters.neuron.lowerer import UNANSWERED, Lowerer, Op
from exporters.neuron.lowerings.base import FOLD, MASKS, READ, Lowering
from exporters.neuron.ops import has_read_result, name_of, overload_of, xla_tensors
from exporters.neuron.origins import Origin, Origins, named_weights
from exporters.neuron.patches import trace_patches
from exporters.neuron.reads import ReadLog
from exporters.neuron.tape import Call, OneDraw

__all__ = ["diagnose"]

OnUse = Callable[[OpUse], None]

_TO_COPY: Final = "aten::_to_copy"
_WEIGHT, _INPUT, _CONSTANT = "weight", "input", "constant"


def diagnose(
    model: torch.nn.Module, inputs: Mapping[str, Any], patches: Selection, on_use: OnUse
) -> Diagnosis:
    """See `Backend.diagnose`."""
    with trace_patches(model, inputs, patches) as applied, torch.no_grad():
        notes = _Notes(model, on_use)
        try:
            _run(model, inputs, notes)
        except Exception as error:
            # Whatever the model raises: what it ran until then is known.
            message = f"{type(error).__name__}: {error}"
            return Diagnosis(notes.uses, applied, message, raised_at(error))
    return Diagnosis(notes.uses, applied)


def _run(model: torch.nn.Module, inputs: Mapping[str, Any], notes: _Notes) -> None:
    binding, weights = Binding(inputs), named_weights(model)
    placeholders = placeholders_of(weights)
    given = [lazy.to_device(tensor) for tensor in binding.flatten(inputs)]
    reads = ReadLog(Origins(model, placeholders, dict(zip(binding.names, given, strict=True))))
    values = {name: weight.detach() for name, weight in weights.items()}
    lowerer = _NotingLowerer(reads, placeholders, values, notes)
    with _ContinuingGuard(model, reads, lowerer):
        torch.func.functional_call(
            model, placeholders, kwargs=binding.restore(given), tie_weights=False
        )


class _Notes:
    """What becomes of each op of one forward."""

    def __init__(self, model: torch.nn.Module, on_use: OnUse) -> None:
        self.lowered: Counter[str] = Counter()
        self._names = {module: name for name, module in model.named_modules()}
        self._modules = {name or type(model).__name__: m for m, name in self._names.items()}
        self._on_use = on_use
        self._uses: dict[tuple[object, ...], OpUse] = {}

    @property
    def uses(self) -> tuple[OpUse, ...]:
        """What was seen, what ends the trace first."""
        noted = Counter[str]()
        for use in self._uses.values():
            noted[use.op] += use.count
        left = self.lowered - noted
        lowered = (OpUse(op, OpStatus.LOWERED, count=count) for op, count in left.items())
        return _sorted([*self._uses.values(), *lowered])

    def add(self, use: OpUse, operands: Sequence[torch.Tensor], origins: Origins) -> None:
        """Note a use of an op by the model's current line."""
        path = running_module(self._names)
        found = [origin for operand in operands for origin in origins.of(operand)]
        placed = replace(use, kind=_kind(found), source=model_line())
        key = (placed.op, placed.status, placed.kind, placed.remedy, placed.source)
        known = self._uses.get(key)
        if known is not None:
            modules = known.modules if path in known.modules else (*known.modules, path or "")
            self._uses[key] = replace(known, count=known.count + 1, modules=modules)
            return
        self._uses[key] = replace(
            placed,
            operands=tuple(origins.describe(operand) for operand in operands),
            modules=(path,) if path else (),
            module_class=self._class_of(path),
        )
        self._on_use(self._uses[key])

    def _class_of(self, path: str | None) -> str | None:
        found = type(self._modules[path]) if path in self._modules else None
        return f"{found.__module__}:{found.__qualname__}" if found else None


class _NotingLowerer(Lowerer):
    """Applies everything that there is, and notes it."""

    def __init__(
        self,
        reads: ReadLog,
        placeholders: Mapping[str, torch.Tensor],
        weights: Mapping[str, torch.Tensor],
        notes: _Notes,
    ) -> None:
        super().__init__(Selection(), reads, placeholders, weights, Folds())
        self.notes = notes
        # What ends a trace may be random; the forward then goes on with one draw of it.
        self._draw = OneDraw(weights)

    def record(self, call: Call, result: Any) -> None:
        """Count the model's own ops; those of a lowering stand for one of these."""
        super().record(call, result)
        if not self._running and hasattr(call.function, "_schema"):
            self.notes.lowered[name_of(call.function)] += 1

    def lower(self, lowering: Lowering, args: Any, kwargs: Any) -> Any:
        """Note and run a lowering."""
        use = OpUse(lowering.op, OpStatus.LOWERED_BY_US, remedy=lowering.name)
        self.note(use, xla_tensors((args, kwargs)))
        return super().lower(lowering, args, kwargs)

    def in_eager(self, use: OpUse, func: Any, args: Any, kwargs: Any) -> Any:
        """What `func` gives in eager, as data of the graph; `UNANSWERED` where nothing can."""
        operands = xla_tensors((args, kwargs))
        self.note(use, operands)
        op = Op(func, args, kwargs, self._reads.origins_of(operands))
        _, result = self._computed(op, self._draw)
        if result is UNANSWERED:
            return UNANSWERED
        return self._entered(op, result, lazy.to_device) if op.gives_lazily(result) else result

    def note(self, use: OpUse, operands: Sequence[torch.Tensor]) -> None:
        """Note a use, unless it is a part of a lowering that was noted."""
        if not self._running or not use.status.is_mended:
            self.notes.add(use, operands, self._reads.origins)

    def _fold(self, op: Op) -> Any:
        result = super()._fold(op)
        if result is not UNANSWERED:
            use = OpUse(name_of(op.func), OpStatus.FOLDED, remedy=FOLD)
            self.note(use, xla_tensors((op.args, op.kwargs)))
        return result

    def _bake(self, op: Op) -> Any:
        result = super()._bake(op)
        if result is not UNANSWERED:
            is_general = result is False and self.is_of_whole_mask(op)
            status = OpStatus.GENERAL_BRANCH if is_general else OpStatus.READ
            use = OpUse(name_of(op.func), status, remedy=MASKS if is_general else READ)
            self.note(use, xla_tensors((op.args, op.kwargs)))
        return result


class _ContinuingGuard(LoweringGuard):
    """Notes what it would refuse, and what raises, and goes on with the value in eager."""

    def __init__(self, model: torch.nn.Module, reads: ReadLog, lowerer: _NotingLowerer) -> None:
        super().__init__(model, reads, lowerer)
        self._noting = lowerer
        # One read is checked where it is dispatched, and again by its kernel.
        self._noted: set[str] = set()

    def _run_op(self, func: Any, args: Any, kwargs: Any) -> Any:
        self._noted.clear()
        try:
            return super()._run_op(func, args, kwargs)
        except UnloweredOpError as refusal:
            self._refused = None
            is_read = refusal.op == name_of(func) and has_read_result(func, args, kwargs)
            status = OpStatus.READ if is_read else OpStatus.ON_WEIGHT
            return self._continue(OpUse(refusal.op, status), refusal, func, args, kwargs)
        except Exception as error:
            message = f"{type(error).__name__}: {error}".partition("\n")[0]
            use = OpUse(name_of(func), OpStatus.RAISES, message=message)
            return self._continue(use, error, func, args, kwargs)
        finally:
            self._noted.clear()

    def _continue(self, use: OpUse, error: Exception, func: Any, args: Any, kwargs: Any) -> Any:
        result = self._noting.in_eager(use, func, args, kwargs)
        if result is UNANSWERED:
            # In eager it raises too, or is not known: then the model ends here.
            raise error
        return result

    def _check(self, op: str, operands: list[torch.Tensor]) -> None:
        origins = self._reads.origins_of(operands)
        is_input = origins and not any(origin.is_placeholder for origin in origins)
        if is_input and op not in self._noted:
            self._noted.add(op)
            status = OpStatus.READ if _reads(op) else OpStatus.ON_ACTIVATION
            self._noting.note(OpUse(op, status), operands)
        super()._check(op, operands)


def _reads(op: str) -> bool:
    return op == _TO_COPY or has_read_result(overload_of(op), (), {})


def _kind(origins: Iterable[Origin]) -> str:
    placeholders = {origin.is_placeholder for origin in origins}
    parts = [name for name, of in ((_WEIGHT, True), (_INPUT, False)) if of in placeholders]
    return " and ".join(parts) or _CONSTANT


def _sorted(uses: Iterable[OpUse]) -> tuple[OpUse, ...]:
    order = list(OpStatus)
    return tuple(
        sorted(uses, key=lambda u: (not u.is_fatal, -order.index(u.status), -u.count, u.op))
    )
