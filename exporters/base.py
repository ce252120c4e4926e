"""What every backend is: how it is declared, asked to export a model, and what it gives back."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

if TYPE_CHECKING:
    import torch

__all__ = [
    "IN_PLACE_ALIGNMENT",
    "Backend",
    "BackendIncompatibleError",
    "BackendUnavailableError",
    "BakedRead",
    "DevicesError",
    "Diagnosis",
    "ExportError",
    "ExportOptions",
    "ExportedModel",
    "OpStatus",
    "OpUse",
    "PatchFacts",
    "RuntimeLimitError",
    "Selection",
    "UnsupportedOutputError",
    "Variant",
    "WeightsInlinedError",
]


IN_PLACE_ALIGNMENT: Final = 64
"""Bytes at whose multiples memory begins that runtimes on the CPU, as XLA's, use as it is."""


class ExportError(Exception):
    """Base of every error that a backend raises on purpose."""


class BackendUnavailableError(ExportError):
    """The backend cannot run in this environment; ``install`` is the command that mends it."""

    def __init__(self, message: str, install: str) -> None:
        super().__init__(f"{message} Install it with: {install}")
        self.install = install


class BackendIncompatibleError(ExportError):
    """The installed toolkit does not have the interface that the backend was written for.

    It concerns the environment and not one model, so a run reports it once.
    """


class DevicesError(ExportError):
    """The devices cannot be chosen as asked, or are fewer than the processes that need one."""


class UnsupportedOutputError(ExportError):
    """The backend cannot carry a leaf of the model's output."""


class WeightsInlinedError(ExportError):
    """The exported program holds its weights as constants and cannot be given others."""


class RuntimeLimitError(ExportError):
    """The runtime itself cannot run a program that was exported and bound rightly.

    It is no finding about the model, and no pass either: the case is skipped with the cause.
    """


@dataclass(frozen=True)
class Selection:
    """A choice among named parts: all of them, none, or those that are listed."""

    everything: bool = True
    names: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, text: str) -> Selection:
        """Read ``on``, ``off`` or a comma-separated list of names."""
        if text in ("on", "off"):
            return cls(everything=text == "on")
        return cls(False, frozenset(name.strip() for name in text.split(",") if name.strip()))

    def __contains__(self, name: str) -> bool:
        return self.everything or name in self.names

    def __bool__(self) -> bool:
        return self.everything or bool(self.names)

    def __str__(self) -> str:
        if self.everything:
            return "on"
        return ",".join(sorted(self.names)) or "off"


@dataclass(frozen=True)
class Variant:
    """One way in which a backend exports a model class; each gives one test per class."""

    dynamic: bool
    generate: bool = False
    static_cache: bool = False
    delegate: str | None = None


@dataclass(frozen=True)
class ExportOptions:
    """How one model is exported.

    Attributes:
        runtime: Runtime or delegate, already resolved by `Backend.resolve_runtime`.
        dynamic: Whether the exported model must take sizes other than those of the inputs.
        patches: Trace patches that may be applied.
        lowerings: Lowerings that may be applied.
        guard: Whether an op that would kill the process raises instead.
        optimize: Whether the backend's own optimizer may rewrite the program.
        workdir: Directory for what a compiler writes; the caller removes it.
    """

    runtime: str | None = None
    dynamic: bool = False
    patches: Selection = dataclasses.field(default_factory=Selection)
    lowerings: Selection = dataclasses.field(default_factory=Selection)
    guard: bool = True
    optimize: bool = True
    workdir: Path | None = None


@dataclass(frozen=True)
class BakedRead:
    """A value that the trace read from an input, and so fixed in the exported program.

    Attributes:
        op: The op that read it, such as ``aten::_local_scalar_dense``.
        operands: Names of the inputs that the value derives from.
        source: ``file.py:line`` of the model's code, when it is known.
    """

    op: str
    operands: tuple[str, ...]
    source: str | None

    def __str__(self) -> str:
        where = f" at {self.source}" if self.source else ""
        return f"{self.op} of {', '.join(self.operands)}{where}"


class OpStatus(str, Enum):
    """What becomes of an op in a trace."""

    LOWERED = "lowered"
    LOWERED_BY_US = "lowered by us"
    FOLDED = "folded"
    PATCHED = "patched"
    GENERAL_BRANCH = "general branch traced"
    ON_ACTIVATION = "falls back on an activation"
    ON_WEIGHT = "falls back on a weight"
    READ = "data-dependent read"
    RAISES = "raises"

    @property
    def is_mended(self) -> bool:
        """Whether the graph is right without anybody's doing."""
        return self in _MENDED


_MENDED = (
    OpStatus.LOWERED,
    OpStatus.LOWERED_BY_US,
    OpStatus.FOLDED,
    OpStatus.PATCHED,
    OpStatus.GENERAL_BRANCH,
)


@dataclass(frozen=True)
class OpUse:
    """An op at one line of a model's code, as often as it ran there in the same way.

    Attributes:
        op: Its name, such as ``aten::im2col``.
        status: What becomes of it.
        kind: What its operands derive from: ``weight``, ``input``, ``weight and input`` or
            ``constant``; None where the op is lowered, which nobody has to know of.
        remedy: Name of what is done about it: a lowering, ``fold``, ``masks``, ``read`` for the
            inputs of the trace, or the trace patches that take its place.
        operands: What each operand is or derives from, the first time.
        modules: Paths of the modules that ran it.
        module_class: ``package.module:Class`` of the first of them.
        source: ``file.py:line`` of the model's code.
        message: The error, where it raises.
        count: How often it ran.
    """

    op: str
    status: OpStatus
    kind: str | None = None
    remedy: str | None = None
    operands: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    module_class: str | None = None
    source: str | None = None
    message: str | None = None
    count: int = 1

    @property
    def is_fatal(self) -> bool:
        """Whether it ends the trace: it raises, or reads what has no value and kills it."""
        reads_weight = self.kind is not None and "weight" in self.kind
        is_left = self.remedy is None and not self.status.is_mended
        return self.status is OpStatus.RAISES or (is_left and reads_weight)


@dataclass(frozen=True)
class Diagnosis:
    """Every op of one forward.

    Attributes:
        uses: The ops, what ends the trace first.
        patches: Trace patches that were applied.
        error: What the forward raised; what would have come after it is not among `uses`.
        source: ``file.py:line`` of the model that raised it.
    """

    uses: tuple[OpUse, ...]
    patches: tuple[str, ...] = ()
    error: str | None = None
    source: str | None = None


class ExportedModel(ABC):
    """A model that a backend has exported.

    Attributes:
        patches: Names of the trace patches that were applied.
        lowerings: Names of the lowerings that were applied.
        baked_reads: Values read from inputs while tracing.
        runnable: False where the program can be compiled but not run (no device).
        notes: What else a reader of the result must know, such as inputs that the program does
            not take.
    """

    patches: tuple[str, ...] = ()
    lowerings: tuple[str, ...] = ()
    baked_reads: tuple[BakedRead, ...] = ()
    runnable: bool = True
    notes: tuple[str, ...] = ()

    @abstractmethod
    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        """Run on keyword inputs; the result has the structure of the model's own output.

        Tensors of the result are on the CPU. The inputs are not changed.
        """

    @abstractmethod
    def with_weights(self, model: torch.nn.Module) -> ExportedModel:
        """The same program with the weights of `model`, not exported again.

        Raises:
            WeightsInlinedError: The program holds its weights as constants.
        """


class PatchFacts(Protocol):
    """What a trace patch says of itself."""

    @property
    def name(self) -> str:
        """The word for ``--trace-patches``."""

    @property
    def summary(self) -> str:
        """What takes the place of what, in one sentence."""

    @property
    def issue(self) -> str:
        """The upstream issue that makes it necessary."""

    @property
    def model_types(self) -> tuple[str, ...]:
        """Model types that it was written for; empty when it is for any model."""

    @property
    def mentions(self) -> tuple[str, ...]:
        """Words of which the code of a model that needs it has one, where it is for any model."""

    @property
    def tolerance(self) -> float:
        """How far a patched model's outputs may be from the unpatched one's on the CPU."""

    def problems(self) -> Sequence[str]:
        """What of torch and transformers is not as it expects, a sentence each; imports them."""


class Backend(ABC):
    """A backend: static facts that are read without importing torch, and `export`.

    Attributes:
        name: Facet of scopes and the value of ``--backend``.
        test_prefix: What stands in test names and markers: ``<test_prefix>_export_test``.
        variants: The variants that give one test each per model class.
        runtimes: The runtimes or delegates that it has, as facets of scopes.
        can_crash: Whether exporting can kill the process, so that cases are isolated.
        chunks_batch: Whether ``dynamic`` means that axis 0 is split into chunks of the traced
            batch, so that it only applies to models whose samples do not mix.
        decomposes: Whether a multimodal model is exported in components, each a program.
        preload: Modules that a fork server imports before it forks; none may touch a device.
        distributions: Distributions whose versions go into every result.
        diagnosed_on: The runtime in whose environment `diagnose` runs, which needs no device;
            None where the backend has no diagnosis.
    """

    name: ClassVar[str]
    test_prefix: ClassVar[str]
    variants: ClassVar[tuple[Variant, ...]]
    runtimes: ClassVar[tuple[str, ...]] = ()
    can_crash: ClassVar[bool] = False
    chunks_batch: ClassVar[bool] = False
    decomposes: ClassVar[bool] = False
    preload: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    distributions: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    diagnosed_on: ClassVar[str | None] = None

    @abstractmethod
    def resolve_runtime(self, requested: str = "auto") -> str | None:
        """The runtime that will be used, found without importing torch.

        Raises:
            BackendUnavailableError: Nothing that is installed can serve `requested`.
        """

    def require_delegate(self, delegate: str | None) -> None:  # noqa: B027
        """Refuse a delegate that cannot be had here.

        Raises:
            BackendUnavailableError: Its runtime is not installed or not registered.
        """

    def require_generation(self) -> None:  # noqa: B027
        """Refuse the steps of generation where only forward passes can be exported here.

        Raises:
            BackendUnavailableError: What exports them is not installed.
        """

    def not_applicable(self, variant: Variant) -> str | None:
        """Why a variant says nothing of any model on this backend; None where it does."""
        return None

    def patch_names(self) -> tuple[str, ...]:
        """Names of the trace patches that it has, found without importing torch."""
        return tuple(patch.name for patch in self.patches())

    def patches(self) -> tuple[PatchFacts, ...]:
        """The trace patches that it has, found without importing torch."""
        return ()

    def lowering_names(self) -> tuple[str, ...]:
        """The words for ``--lowerings``, found without importing torch."""
        return ()

    def patched(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], selection: Selection
    ) -> AbstractContextManager[tuple[str, ...]]:
        """Hold `model` as it is traced; gives the names of the patches that were applied."""
        return nullcontext(())

    def caches_as_traced(self) -> AbstractContextManager[None]:
        """Have transformers' caches keep what they keep in a trace, where that is something else.

        Eager, with which a program is compared, and the loop that drives programs run in it.
        """
        return nullcontext()

    def diagnose(
        self,
        model: torch.nn.Module,
        inputs: Mapping[str, Any],
        patches: Selection,
        on_use: Callable[[OpUse], None] = lambda use: None,
    ) -> Diagnosis | None:
        """Every op that `model` runs on `inputs`, and what becomes of it; None for no answer.

        Args:
            model: Model on the CPU; it is as before on return.
            inputs: Keyword inputs.
            patches: Trace patches that may be applied.
            on_use: Called with each op at a line that is not simply lowered, before it runs.
        """
        return None

    def sketch(self, use: OpUse) -> str | None:
        """Python code to start from for what would mend `use`; None where nothing is to do."""
        return None

    def environment(self, runtime: str | None) -> Mapping[str, str]:
        """Environment variables of the process that exports, set before it starts.

        Of names that end in ``_FLAGS`` the values are added to what is already set.
        """
        return {}

    def devices(self, runtime: str | None) -> int | None:
        """How many processes can have a device of their own; None where none is needed.

        Raises:
            DevicesError: A variable by which the user chooses among them is not valid.
        """
        return None

    def share_of_devices(self, runtime: str | None, index: int, count: int) -> Mapping[str, str]:
        """Environment variables by which one of several processes sees devices of its own.

        Args:
            runtime: Runtime or delegate, already resolved.
            index: Which of the processes that run at one time, from 0.
            count: How many there are.

        Raises:
            DevicesError: There are fewer devices than processes.
        """
        return {}

    @abstractmethod
    def tolerance(self, runtime: str | None) -> float:
        """Default absolute and relative tolerance of outputs against eager."""

    @abstractmethod
    def export(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        """Export `model`, in eval mode on the CPU, for keyword `inputs`.

        The model and the inputs are as they were before when this returns or raises.

        Raises:
            ExportError: What the backend itself refuses; the toolkit's own errors pass through.
        """
