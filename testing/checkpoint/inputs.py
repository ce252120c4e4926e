"""Inputs for a loaded checkpoint: real ones through what it brings along, else random ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch

from testing.checkpoint.errors import CheckpointError
from testing.checkpoint.real import real_inputs
from testing.checkpoint.source import Source
from testing.subject import Inputs
from testing.tiny.builder import sampled_inputs
from testing.tiny.errors import NoTinyModelError

__all__ = ["CheckpointInputs", "inputs_for"]

_RANDOM: Final = "random"


class CheckpointInputs:
    """The leaves of several inputs side by side; of each leaf those of the first that has it.

    Attributes:
        batch_size: Batch of the traced inputs.
        families: Names of the fresh sets, those of the first part.
        unchanged: Leaves that no fresh set changes, each with why.
        axes: Axes that may have another size, of all parts.
        described: Where the leaves come from, ``real sentences (input_ids); random (…)``, and
            what else could not be used.
    """

    def __init__(
        self, parts: Mapping[str, Inputs], names: Sequence[str], unusable: Sequence[str] = ()
    ) -> None:
        """Put inputs together.

        Args:
            parts: Inputs of one batch size, by what they are called.
            names: Arguments of the forward; other leaves are left out.
            unusable: Why there are no real inputs where there might have been, a clause each.
        """
        self._owners = _owners(parts, names)
        first = next(iter(parts.values()))
        self.batch_size, self.families = first.batch_size, tuple(first.families)
        self.unchanged: Mapping[str, str] = {
            name: part.unchanged[name]
            for name, (_, part) in self._owners.items()
            if name in part.unchanged
        }
        self.axes = _axes(self._owners)
        self.described = "; ".join([*_described(self._owners), *unusable])

    def traced(self) -> dict[str, Any]:
        """Keyword inputs of the trace."""
        return self._joined(lambda part: part.traced())

    def fresh(
        self,
        family: str,
        batch_size: int | None = None,
        lengths: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        """Other ones; the parts' families stand side by side in their order."""
        place = self.families.index(family)
        return self._joined(
            lambda part: part.fresh(
                part.families[place % len(part.families)], batch_size, _of_part(part, lengths)
            )
        )

    def _joined(self, leaves_of: Callable[[Inputs], dict[str, Any]]) -> dict[str, Any]:
        drawn = {id(part): leaves_of(part) for _, part in self._owners.values()}
        return {name: drawn[id(part)][name] for name, (_, part) in self._owners.items()}


def inputs_for(model: torch.nn.Module, source: Source) -> CheckpointInputs:
    """Inputs for `model`: real ones where the checkpoint has what makes them, else random ones.

    Raises:
        CheckpointError: The forward requires an input that nothing makes.
    """
    names = list(inspect.signature(model.forward).parameters)
    found = real_inputs(model, source, names)
    given = {name for part in found.parts.values() for name in part.traced()}
    if found.parts and not _required(model) - given:
        return CheckpointInputs(found.parts, names, found.unusable)
    try:
        random = sampled_inputs(model)
    except NoTinyModelError as error:
        raise CheckpointError(f"no inputs for {source.name}: {error}") from error
    # What is optional stays away from what is real.
    wanted = _required(model) | given if found.parts else set(names)
    parts = {**found.parts, _RANDOM: random}
    return CheckpointInputs(parts, [n for n in names if n in wanted], found.unusable)


def _required(model: torch.nn.Module) -> set[str]:
    from testing.tiny.forward import Forward

    return set(Forward(model).required)


def _owners(parts: Mapping[str, Inputs], names: Sequence[str]) -> dict[str, tuple[str, Inputs]]:
    owners: dict[str, tuple[str, Inputs]] = {}
    for label, part in parts.items():
        for name in part.traced():
            if name in names:
                owners.setdefault(name, (label, part))
    return owners


def _axes(owners: Mapping[str, tuple[str, Inputs]]) -> dict[str, int]:
    """Axes of all parts, less those that two have under one name and in other sizes."""
    sizes: dict[str, set[int]] = {}
    for _, part in owners.values():
        for name, size in part.axes.items():
            sizes.setdefault(name, set()).add(size)
    return {name: found.pop() for name, found in sizes.items() if len(found) == 1}


def _of_part(part: Inputs, lengths: Mapping[str, int] | None) -> dict[str, int]:
    return {name: size for name, size in (lengths or {}).items() if name in part.axes}


def _described(owners: Mapping[str, tuple[str, Inputs]]) -> list[str]:
    by_label: dict[str, list[str]] = {}
    for name, (label, _) in owners.items():
        by_label.setdefault(label, []).append(name)
    return [f"{label} ({', '.join(names)})" for label, names in by_label.items()]
