"""What a trace patch is: what it replaces and why, in which models, and how it is applied."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from packaging.requirements import Requirement

from exporters.base import ExportError
from exporters.distributions import version_of

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = [
    "UPSTREAM_ISSUE",
    "PatchError",
    "PatchNotCoveredError",
    "PatchTargetMissingError",
    "PatchTargetMissingWarning",
    "Target",
    "TracePatch",
    "UnknownPatchError",
    "names_in_code",
    "set_buffer",
]

UPSTREAM_ISSUE: Final = "aws-neuron/aws-neuron-sdk#1265"
"""An op without a lowering kills the process when its operand derives from a placeholder."""


class PatchError(ExportError):
    """Base of every error of the trace patches."""


class PatchTargetMissingError(PatchError):
    """What a patch replaces does not exist in the installed torch or transformers."""


class PatchNotCoveredError(PatchError):
    """A patched model asks for something that the patch was not written for."""


class UnknownPatchError(PatchError):
    """A selection names a patch that is not registered."""


class PatchTargetMissingWarning(UserWarning):
    """A patch that this model needs is left out, since what it replaces was not found."""


@dataclass(frozen=True)
class Target:
    """Something in torch or transformers that a patch builds on.

    Attributes:
        path: Where it is, as ``package.module:Class.function``.
        uses: Names that its code must refer to for the patch to make sense. A class that keeps
            its name and changes its body is as gone as one that is renamed.
    """

    path: str
    uses: tuple[str, ...] = ()

    def problem(self) -> str | None:
        """Why the target is not what the patch expects; None when it is."""
        try:
            found = pkgutil.resolve_name(self.path)
        except (ImportError, AttributeError) as error:
            return f"{self.path} does not exist ({error})"
        absent = [name for name in self.uses if name not in names_in_code(found)]
        return f"{self.path} no longer refers to {', '.join(absent)}" if absent else None


@dataclass(frozen=True)
class TracePatch:
    """A change to a model's modules that holds while it is traced.

    `apply` may change what hangs on the modules that `find` returned: their attributes,
    buffers and hooks. It must not change a class, a function or a tensor in place, which the
    snapshot of `trace_patches` does not cover. What it computes from weights is registered as
    a buffer, so that a runtime sees it among the model's own and can feed other values.

    Attributes:
        name: The word for ``--trace-patches`` and for the results.
        summary: What takes the place of what, in one sentence.
        targets: What it replaces or relies on.
        find: The modules of a model that need it; empty when it has nothing to do.
        apply: Patches those modules for keyword inputs.
        model_types: Model types that it was written for; empty when it is for any model.
        issue: The upstream issue that makes it necessary.
        mentions: Words of which the code of a model that needs it has one, where `model_types`
            is empty.
        tolerance: How far, absolutely and relatively, a patched model's outputs on the CPU may be
            from the unpatched one's; 0 where it does the same sums in the same order.
        requires: What must be installed for it to be of use, such as ``transformers<5`` where a
            later release does without what it replaces.
    """

    name: str
    summary: str
    targets: tuple[Target, ...]
    find: Callable[[nn.Module], Sequence[nn.Module]]
    apply: Callable[[Sequence[nn.Module], Any], None]
    model_types: tuple[str, ...] = ()
    issue: str = UPSTREAM_ISSUE
    mentions: tuple[str, ...] = ()
    tolerance: float = 0.0
    requires: str | None = None

    @property
    def is_of_use(self) -> bool:
        """Whether what is installed is what the patch `requires`."""
        if self.requires is None:
            return True
        wanted = Requirement(self.requires)
        found = version_of(wanted.name)
        return found is not None and wanted.specifier.contains(found, prereleases=True)

    def concerns(self, model: nn.Module) -> bool:
        """Whether it is of use, and `model` or a part of it is of one of its model types."""
        if not self.is_of_use:
            return False
        return not self.model_types or any(
            f"transformers.models.{model_type}." in f"{type(module).__module__}."
            for module in model.modules()
            for model_type in self.model_types
        )

    def problems(self) -> list[str]:
        """What is wrong with the targets, one sentence each; nothing where it is of no use."""
        targets = self.targets if self.is_of_use else ()
        return [problem for target in targets if (problem := target.problem())]


def set_buffer(module: nn.Module, name: str, value: torch.Tensor) -> None:
    """Register what a patch computed, where a runtime sees it and the state dict does not.

    Raises:
        KeyError: The module has an attribute of that name that is no buffer.
    """
    if name in module._buffers:  # patched twice: a nested use
        module._buffers[name] = value
    else:
        module.register_buffer(name, value, persistent=False)


def names_in_code(function: Any) -> Sequence[str]:
    """Globals and attributes that the code of a Python function refers to."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_names if code else ()
