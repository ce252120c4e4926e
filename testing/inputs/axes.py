"""Axes of inputs that may have another size: which leaves have each, and leaves of other sizes.

An axis is that of a text's or a sound's length, or a side of an image with a mask. What belongs
together follows from the domains: a leaf has the axis of the mask that it follows, and of ids that
are called alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from testing.inputs.domains import Domain, Kind

__all__ = ["Axes", "axes_of", "resized", "sizes_of"]

Axes: TypeAlias = Mapping[str, frozenset[tuple[str, int]]]
"""By the name of an axis the leaves that have it, each with its place in the domain's shape."""

_SEQUENCES: Final = (Kind.TOKENS, Kind.MASK, Kind.POSITIONS)
_WHOLE: Final = (Kind.TOKENS, Kind.MASK)
# What has an element for each token without following a mask, such as segments.
_COMPANIONS: Final = (Kind.INDEX, Kind.BOOL, Kind.BOXES)
_STEM: Final = re.compile(
    r"(?P<before>.*?)(input_ids|inputs_embeds|attention_mask|token_type_ids|position_ids|ids|mask)"
    r"(?P<after>.*)"
)
_SIDES: Final = ("height", "width")


def axes_of(domains: Mapping[str, Domain]) -> Axes:
    """The axes of a model's inputs by name, such as ``length`` and ``decoder_length``.

    An axis of size 1 is none: a program is traced for that size alone.
    """
    found: dict[str, set[tuple[str, int]]] = {}
    for path, domain in domains.items():
        for name, place in _own_axes(path, domain, domains):
            if domain.shape[place] > 1:
                found.setdefault(name, set()).add((path, place))
    one_size = {n: p for n, p in found.items() if len({domains[q].shape[i] for q, i in p}) == 1}
    return {name: frozenset(places) for name, places in one_size.items()}


def sizes_of(axes: Axes, domains: Mapping[str, Domain]) -> dict[str, int]:
    """The size of each axis in the trace."""
    firsts = {name: next(iter(places)) for name, places in axes.items()}
    return {name: domains[path].shape[place] for name, (path, place) in firsts.items()}


def resized(
    domains: Mapping[str, Domain], axes: Axes, lengths: Mapping[str, int]
) -> dict[str, Domain]:
    """The domains with other sizes of some axes.

    Raises:
        KeyError: There is no such axis.
    """
    changed = dict(domains)
    for name, length in lengths.items():
        for path, place in axes[name]:
            changed[path] = _resized(changed[path], place, length)
    return changed


def _own_axes(
    path: str, domain: Domain, domains: Mapping[str, Domain]
) -> Iterator[tuple[str, int]]:
    """Names of the axes that a leaf has, each with its place in the domain's shape."""
    mask = domains.get(domain.mask or "")
    if domain.kind is Kind.FIXED or domain.abreast or not domain.shape:
        return
    if domain.kind is Kind.AREA or (mask is None and _is_picture(path, domain)):
        yield from _sides(path, domain)
    elif mask is not None and mask.kind is Kind.AREA:
        yield from _sides(domain.mask or "", domain)
    elif mask is not None and domain.shape[: len(mask.shape)] == mask.shape:
        yield _length(domain.mask or ""), len(mask.shape) - 1
    elif domain.kind in _SEQUENCES:
        yield _length(path), len(domain.shape) - 1
    elif domain.kind in _COMPANIONS and (ids := _beside(path, domain, domains)):
        yield _length(ids), len(domains[ids].shape) - 1
    elif domain.kind is Kind.FLOAT and domain.shortest is not None:
        # Padded by zeros, as sound without a mask is.
        yield f"{path}_length", len(domain.shape) - 1


def _is_picture(path: str, domain: Domain) -> bool:
    """Whether a leaf is pictures, channels first; transformers has no other word for them."""
    is_named = path.rpartition(".")[2].startswith("pixel_values")
    return is_named and domain.kind is Kind.FLOAT and len(domain.shape) > len(_SIDES)


def _sides(mask: str, domain: Domain) -> Iterator[tuple[str, int]]:
    if len(domain.shape) >= len(_SIDES):
        prefix = mask.partition("pixel")[0]
        yield from ((f"{prefix}{s}", len(domain.shape) - 2 + i) for i, s in enumerate(_SIDES))


def _length(path: str) -> str:
    """The name of the axis of a text, after the leaf's own name: ``decoder_length``."""
    before, after = _words_around(path)
    return f"{before}length{after}"


def _words_around(path: str) -> tuple[str, str]:
    name = path.rpartition(".")[2]
    found = _STEM.fullmatch(name)
    return (found["before"], found["after"]) if found else ("", "")


def _beside(path: str, domain: Domain, domains: Mapping[str, Domain]) -> str | None:
    """Ids or a mask that are called alike and have an element for each of the leaf's."""
    words = _words_around(path)
    alike = (o for o, its in domains.items() if its.kind in _WHOLE and _words_around(o) == words)
    return next((o for o in alike if _covers(domains[o].shape, domain.shape)), None)


def _covers(leading: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return bool(leading) and shape[: len(leading)] == leading


def _resized(domain: Domain, place: int, length: int) -> Domain:
    before = domain.shape[place]
    shape = (*domain.shape[:place], length, *domain.shape[place + 1 :])
    shortest = domain.shortest
    if shortest is not None:
        # A longer row has no more padding than a row of the trace; what a sample must hold stays.
        shortest = shortest + length - before if length > before else min(shortest, length)
    return replace(domain, shape=shape, shortest=shortest)
