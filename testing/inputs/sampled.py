"""Inputs of a model: those of the trace, and fresh ones that differ from them in every leaf."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

import torch

from exporters.tree import substitute, tensor_leaves
from testing.inputs.axes import axes_of, resized, sizes_of
from testing.inputs.domains import Domain, Kind
from testing.inputs.inferring import infer_domains
from testing.inputs.padding import padded
from testing.inputs.sampling import FAMILIES, TRACED, sample

__all__ = ["SampledInputs"]

_REDRAWS: Final = 16


class SampledInputs:
    """Inputs drawn from the domain of each leaf, the same for the same seed everywhere.

    The traced set has real padding in its masks, on the right. Decoders that take position ids
    have the family ``left_padded`` besides: their users pad on the left to generate, but tracing
    so would hide what a right-padded batch does.

    Attributes:
        batch_size: Batch of the traced inputs.
        seed: What every draw derives from, with the names of family and leaf.
        families: Names of the fresh sets.
        unchanged: Leaves that no fresh set changes, each with why.
        axes: Axes besides the batch that may have another size, with that of the trace.
    """

    def __init__(
        self,
        domains: Mapping[str, Domain],
        batch_size: int = 2,
        seed: int = 0,
        example: Mapping[str, Any] | None = None,
    ) -> None:
        """Make the inputs.

        Args:
            domains: Domain of each leaf by its dotted path.
            batch_size: Batch of the traced inputs.
            seed: What every draw derives from.
            example: The traced inputs, when they are given; otherwise they are drawn too, and
                every path is the name of an argument.
        """
        self.batch_size = batch_size
        self.seed = seed
        self._domains = dict(domains)
        self._example = example
        self._traced = self._traced_leaves()
        self.families = tuple(name for name in FAMILIES if self._has_family(name))
        self._axes = axes_of(self._tensor_domains())
        self.axes: Mapping[str, int] = sizes_of(self._axes, self._domains)
        self.unchanged: Mapping[str, str] = {
            path: domain.reason
            for path, domain in self._domains.items()
            if domain.kind is Kind.FIXED
        }

    @classmethod
    def infer(cls, example: Mapping[str, Any], config: Any = None, seed: int = 0) -> SampledInputs:
        """Inputs like `example`, which stays the traced set but for padding where it has none.

        Args:
            example: Keyword inputs of a forward; nested values and caches may hold tensors.
            config: The model's configuration, for its special tokens and vocabularies.
            seed: What every draw derives from.

        Raises:
            ValueError: The example holds no tensor.
        """
        # One by one: a tensor that is given twice becomes two, which then can differ.
        own = {name: copy.deepcopy(value) for name, value in example.items()}
        batch_size, domains = infer_domains(own, config)
        return cls(domains, batch_size, seed, padded(own, domains, batch_size, seed))

    @property
    def domains(self) -> Mapping[str, Domain]:
        """Domain of each leaf by its dotted path."""
        return self._domains

    def traced(self) -> dict[str, Any]:
        """Keyword inputs of the trace: real padding in the masks."""
        if self._example is not None:
            return copy.deepcopy(dict(self._example))
        return {path: leaf.clone() for path, leaf in self._traced.items()}

    def fresh(
        self,
        family: str,
        batch_size: int | None = None,
        lengths: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        """Keyword inputs that differ from the traced ones in every leaf but `unchanged`.

        Args:
            family: One of `families`.
            batch_size: Size of axis 0 of every batched leaf; the traced one by default.
            lengths: Sizes of some of `axes`; the others keep that of the trace.

        Raises:
            ValueError: No such family.
            KeyError: No such axis.
        """
        if family not in self.families:
            raise ValueError(f"no family {family!r}; there are: {', '.join(self.families)}")
        leaves = self._fresh_leaves(family, batch_size or self.batch_size, lengths or {})
        if self._example is None:
            return leaves
        originals = tensor_leaves(self._example)
        replacements = {id(originals[path]): leaf for path, leaf in leaves.items()}
        return dict(substitute(dict(self._example), replacements))

    def _fresh_leaves(
        self, family: str, batch_size: int, lengths: Mapping[str, int]
    ) -> dict[str, torch.Tensor]:
        """Draw until every leaf differs; a draw that repeats the trace is rare but possible."""
        domains = resized(self._tensor_domains(), self._axes, lengths)
        drawn: dict[str, torch.Tensor] = {}
        for salt in range(_REDRAWS):
            drawn = sample(domains, family, batch_size, self.seed, salt)
            if not self._repeated(family, drawn):
                return drawn
        names = ", ".join(self._repeated(family, drawn))
        raise ValueError(f"{family}: {names} cannot differ; say why")

    def _repeated(self, family: str, drawn: Mapping[str, torch.Tensor]) -> list[str]:
        """Leaves that are the traced ones again, and might be others."""
        return [
            path
            for path, leaf in drawn.items()
            if path not in self.unchanged
            and not self._counts_on(path, family)
            and torch.equal(leaf, self._traced[path])
        ]

    def _counts_on(self, path: str, family: str) -> bool:
        """Whether a leaf is 0, 1, 2, … in a family, as an example may have it under padding."""
        return family == "unpadded" and self._domains[path].kind is Kind.POSITIONS

    def _traced_leaves(self) -> dict[str, torch.Tensor]:
        if self._example is not None:
            return tensor_leaves(copy.deepcopy(self._example))
        return sample(self._domains, TRACED, self.batch_size, self.seed)

    def _tensor_domains(self) -> dict[str, Domain]:
        return {path: d for path, d in self._domains.items() if path in self._traced}

    def _has_family(self, family: str) -> bool:
        kinds = {domain.kind for domain in self._domains.values()}
        if family == "unpadded":
            return Kind.MASK in kinds and not self._traced_is_unpadded()
        return bool(FAMILIES[family] & kinds)

    def _traced_is_unpadded(self) -> bool:
        masks = [path for path, domain in self._domains.items() if domain.kind is Kind.MASK]
        return any(bool((self._traced[path] != 0).all()) for path in masks)
