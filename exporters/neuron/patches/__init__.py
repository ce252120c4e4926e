"""Changes to a model that hold while it is traced for Neuron, and that leave no trace behind.

To add one, write a module with a `TracePatch` and name it in `PATCHES`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from exporters.base import Selection
from exporters.neuron.patches.base import (
    UPSTREAM_ISSUE,
    PatchError,
    PatchNotCoveredError,
    PatchTargetMissingError,
    PatchTargetMissingWarning,
    TracePatch,
    UnknownPatchError,
)
from exporters.neuron.patches.convbert import CONVBERT
from exporters.neuron.patches.covered_patches import COVERED_PATCHES
from exporters.neuron.patches.experts import EXPERTS
from exporters.neuron.patches.held import HELD
from exporters.neuron.patches.image_tokens import IMAGE_TOKENS
from exporters.neuron.patches.language_cache import LANGUAGE_CACHE
from exporters.neuron.patches.last_token import LAST_TOKEN
from exporters.neuron.patches.patch_positions import PATCH_POSITIONS
from exporters.neuron.patches.pooled_lengths import POOLED_LENGTHS
from exporters.neuron.patches.prophetnet import PROPHETNET
from exporters.neuron.patches.skipped_masks import SKIPPED_MASKS
from exporters.neuron.patches.special_tokens import SPECIAL_TOKENS
from exporters.neuron.patches.weight_norm import WEIGHT_NORM
from exporters.neuron.patches.whole_rows import WHOLE_ROWS
from exporters.neuron.patches.yolos import YOLOS
from exporters.snapshot import ModuleSnapshot

if TYPE_CHECKING:
    from torch import nn

__all__ = [
    "PATCHES",
    "UPSTREAM_ISSUE",
    "PatchError",
    "PatchNotCoveredError",
    "PatchTargetMissingError",
    "PatchTargetMissingWarning",
    "TracePatch",
    "UnknownPatchError",
    "check_targets",
    "trace_patches",
]

PATCHES: Final[Mapping[str, TracePatch]] = MappingProxyType(
    {
        patch.name: patch
        for patch in (
            HELD,  # first, so that the others find what it registers
            WEIGHT_NORM,
            YOLOS,
            CONVBERT,
            EXPERTS,
            PROPHETNET,
            LAST_TOKEN,
            PATCH_POSITIONS,
            COVERED_PATCHES,
            IMAGE_TOKENS,
            LANGUAGE_CACHE,
            POOLED_LENGTHS,
            SKIPPED_MASKS,
            SPECIAL_TOKENS,
            WHOLE_ROWS,
        )
    }
)
"""Every trace patch by name, in the order in which they are applied."""

_ALL: Final = Selection()


@contextmanager
def trace_patches(
    model: nn.Module, inputs: Any, selection: Selection = _ALL
) -> Iterator[tuple[str, ...]]:
    """Patch `model` for a trace, and put it back as it was, whatever happens in between.

    Inside, what a patch computed from the weights is among ``model.named_buffers()``, under
    names that depend on the model class and the shapes of `inputs` alone: entered with another
    model of the same class, the context gives the values for that model's weights. Outside,
    the model is the same object with the same parts, tensors, hooks and attributes in the same
    order; also what the forward itself left on it is gone.

    Args:
        model: Model on the CPU, with its real weights.
        inputs: The inputs of the trace, as a mapping, a sequence or one tensor.
        selection: Which of `PATCHES` may be applied; all by default.

    Yields:
        Names of the patches that were applied to this model, none when it needs none.

    Raises:
        UnknownPatchError: `selection` names a patch that does not exist.
        PatchNotCoveredError: The model needs a patch in a way that the patch does not cover.

    Warns:
        PatchTargetMissingWarning: The model needs a patch whose target is not what the patch
            was written for. It is left out and not named.
    """
    chosen = _chosen(selection)
    snapshot = ModuleSnapshot(model)
    try:
        yield tuple(patch.name for patch in chosen if _apply(patch, model, inputs))
    finally:
        snapshot.restore()


def check_targets(patches: Iterable[TracePatch] = tuple(PATCHES.values())) -> None:
    """Check that the installed torch and transformers have all that `patches` replace.

    Raises:
        PatchTargetMissingError: They do not; the message names each patch and target.
    """
    found = [f"{patch.name}: {problem}" for patch in patches for problem in patch.problems()]
    if found:
        raise PatchTargetMissingError(
            f"trace patches do not fit what is installed: {'; '.join(found)}. "
            "Adapt the patch in exporters/neuron/patches, or remove it if its reason is gone."
        )


def _chosen(selection: Selection) -> list[TracePatch]:
    unknown = sorted(selection.names - PATCHES.keys())
    if unknown:
        raise UnknownPatchError(
            f"no trace patch is called {', '.join(unknown)}; there are: {', '.join(PATCHES)}"
        )
    return [patch for name, patch in PATCHES.items() if name in selection]


def _apply(patch: TracePatch, model: nn.Module, inputs: Any) -> bool:
    """Patch `model` if it needs that; whether it did."""
    if not patch.concerns(model):
        return False
    problems = patch.problems()
    if problems:
        _warn(patch, model, "; ".join(problems))
        return False
    modules = patch.find(model)
    if modules:
        patch.apply(modules, inputs)
    elif patch.model_types:
        # Code beside the targets has taken their place: as bad as a target that is gone.
        _warn(patch, model, "no module of this model is one that the patch was written for")
    return bool(modules)


def _warn(patch: TracePatch, model: nn.Module, problem: str) -> None:
    warnings.warn(
        f"trace patch {patch.name} is left out for {type(model).__name__}: {problem}. "
        f"The trace may kill the process ({patch.issue}).",
        PatchTargetMissingWarning,
        stacklevel=2,
    )
