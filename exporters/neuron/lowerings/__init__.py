"""Ops that torch_xla does not lower, in terms of ops that it does; one module a family.

To add one, write a `Lowering` in the module of its family, or in a new one, and see that the
module's ``LOWERINGS`` is joined here. Importing this package imports no torch: what needs it
imports it inside of functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from exporters.neuron.lowerings import (
    accumulating,
    complexes,
    counting,
    fourier,
    normalising,
    ordering,
    overhanging,
    pooling,
    resizing,
    rounding,
    sampling,
    scattering,
    selecting,
    slicing,
    sliding,
    torch_decompositions,
)
from exporters.neuron.lowerings.base import FOLD, MASKS, READ, Lowering, evaluate

__all__ = ["LOWERINGS", "Lowering", "evaluate", "lowering_names"]

_FAMILIES: Final[tuple[tuple[Lowering, ...], ...]] = (
    accumulating.LOWERINGS,
    complexes.LOWERINGS,
    counting.LOWERINGS,
    fourier.LOWERINGS,
    normalising.LOWERINGS,
    ordering.LOWERINGS,
    overhanging.LOWERINGS,
    pooling.LOWERINGS,
    resizing.LOWERINGS,
    rounding.LOWERINGS,
    sampling.LOWERINGS,
    scattering.LOWERINGS,
    selecting.LOWERINGS,
    slicing.LOWERINGS,
    sliding.LOWERINGS,
    torch_decompositions.LOWERINGS,
)

LOWERINGS: Final[Mapping[str, Lowering]] = MappingProxyType(
    {lowering.op: lowering for family in _FAMILIES for lowering in family}
)
"""Every lowering by its op, such as ``aten::grid_sampler_2d``."""


def lowering_names() -> tuple[str, ...]:
    """The words for ``--lowerings``: what goes before lowerings, and each of them."""
    return (FOLD, READ, MASKS, *(lowering.name for lowering in LOWERINGS.values()))
