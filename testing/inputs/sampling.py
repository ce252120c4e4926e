"""Draw input leaves from their domains, family by family.

Every draw has a generator of its own, seeded by the names of family and leaf, so that leaves of
one shape never share data and a leaf is the same whatever else is drawn.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import torch

from testing.inputs.domains import Domain, Kind, Place, Run

__all__ = ["FAMILIES", "TRACED", "sample"]

TRACED: Final = "traced"

_ANY: Final = frozenset(Kind) - {Kind.FIXED}
_VALUES: Final = frozenset({Kind.TOKENS, Kind.FLOAT, Kind.INDEX, Kind.BOXES})

FAMILIES: Final[Mapping[str, frozenset[Kind]]] = {
    "noise": _ANY,
    "unpadded": frozenset({Kind.MASK}),
    "left_padded": frozenset({Kind.POSITIONS}),
    "constant": _VALUES,
    "ramp": _VALUES,
    "extremes": _VALUES,
    "first_token": frozenset({Kind.TOKENS}),
    "last_token": frozenset({Kind.TOKENS}),
}
"""Each family, and the kinds of leaf of which a model needs one for the family to exist."""

_SCHEDULE: Final = {name: i for i, name in enumerate([TRACED, *FAMILIES])}
# Position of a padded token, as transformers' generate() fills it.
_PADDED_POSITION: Final = 1


def sample(
    domains: Mapping[str, Domain], family: str, batch_size: int, seed: int, salt: int = 0
) -> dict[str, torch.Tensor]:
    """One leaf of each domain.

    Args:
        domains: Domains by path.
        family: ``traced`` or one of `FAMILIES`.
        batch_size: Samples; axis 0 of batched leaves.
        seed: What every draw derives from.
        salt: Another value gives another draw.
    """
    masks: dict[str, torch.Tensor] = {}
    follows = {domain.mask for domain in domains.values() if domain.kind is Kind.POSITIONS}
    # Masks come first, since ids, features and positions follow their padding; marks follow ids.
    turn = {Kind.MASK: 0, Kind.MARKS: 2}
    followed = {domain.mask for domain in domains.values()}
    order = sorted(domains, key=lambda p: 0 if p in followed else turn.get(domains[p].kind, 1))
    drawn: dict[str, torch.Tensor] = {}
    for path in order:
        draw = _Draw(path, domains[path], family, batch_size, seed, salt, masks, drawn)
        draw.pads_left = family == "left_padded" and path in follows
        drawn[path] = _laid_out(_KINDS[draw.domain.kind](draw), draw.domain)
        if draw.domain.kind is Kind.MASK or path in followed:
            masks[path] = drawn[path].bool() ^ draw.domain.inverted
    return {path: drawn[path] for path in domains}


def _laid_out(leaf: torch.Tensor, domain: Domain) -> torch.Tensor:
    """The leaf with its samples where the model has them."""
    return leaf.movedim(0, -2).flatten(-2).unsqueeze(0) if domain.abreast else leaf


@dataclass
class _Draw:
    """One leaf to be drawn."""

    path: str
    domain: Domain
    family: str
    batch_size: int
    seed: int
    salt: int
    masks: Mapping[str, torch.Tensor] = field(default_factory=dict)
    drawn: Mapping[str, torch.Tensor] = field(default_factory=dict)
    pads_left: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.domain.full_shape(self.batch_size)

    @property
    def mark(self) -> int:
        """A number that tells this leaf from others, the same in every process."""
        return zlib.crc32(self.path.encode())

    @property
    def share(self) -> float:
        """The mark as a number in [0, 1)."""
        return self.mark / 2**32

    @property
    def generator(self) -> torch.Generator:
        name = f"{self.seed}/{self.family}/{self.path}/{self.salt}"
        return torch.Generator().manual_seed(zlib.crc32(name.encode()))

    @property
    def real(self) -> torch.Tensor:
        """Which positions are not padding, in the mask's shape; every one without a mask."""
        mask = self.masks.get(self.domain.mask or "")
        return torch.ones(self.shape, dtype=torch.bool) if mask is None else mask

    def uniform(self, low: int, high: int) -> torch.Tensor:
        """Integers of the leaf's shape in ``[low, high)``."""
        return torch.randint(low, max(high, low + 1), self.shape, generator=self.generator)

    def order(self) -> torch.Tensor:
        """0, 1, 2, … along each sample, in the leaf's shape."""
        size = math.prod(self.shape[1:])
        return torch.arange(size).expand(self.shape[0], size).reshape(self.shape)

    def rows(self) -> torch.Tensor:
        """The index of each sample, broadcastable to the leaf's shape."""
        return torch.arange(self.shape[0]).view(-1, *[1] * (len(self.shape) - 1))


def _mask(draw: _Draw) -> torch.Tensor:
    """Ones and then zeros in each row, another number of them in each row and family."""
    length = draw.shape[-1]
    rows = math.prod(draw.shape[:-1])
    if draw.family == "unpadded":
        return torch.full(draw.shape, not draw.domain.inverted).to(draw.domain.dtype)
    offset = _SCHEDULE[draw.family] + draw.salt
    padding = torch.tensor([_padding(draw.domain, length, row + offset) for row in range(rows)])
    real = torch.arange(length) < (length - padding).unsqueeze(1)
    real = real.flip(1) if draw.pads_left else real
    return (real ^ draw.domain.inverted).view(draw.shape).to(draw.domain.dtype)


def _padding(domain: Domain, length: int, turn: int) -> int:
    """Padded positions at a turn; turn 0 has none, and a cycle has every number once."""
    shortest = max(1, length // 2) if domain.shortest is None else domain.shortest
    cycle = length - shortest + 1
    step = max(1, round(0.6 * cycle))
    while math.gcd(step, cycle) > 1:
        step += 1
    return (turn * step) % cycle


def _tokens(draw: _Draw) -> torch.Tensor:
    ids = draw.domain.regular[_token_choice(draw)]
    real = draw.real.reshape(-1, ids.shape[-1])
    flat = ids.reshape(real.shape)
    for row in range(len(flat)):
        _place_runs(flat[row], real[row], draw)
    return flat.masked_fill(~real, draw.domain.pad).view(draw.shape).to(draw.domain.dtype)


def _token_choice(draw: _Draw) -> torch.Tensor:
    """Which of the regular ids stands at each position."""
    count = len(draw.domain.regular)
    if draw.family == "constant":
        return torch.full(draw.shape, (count // 2 + draw.mark + draw.salt) % count)
    if draw.family == "ramp":
        return (draw.order() + 7 * draw.rows() + draw.mark + draw.salt) % count
    if draw.family == "extremes":
        return ((draw.order() + draw.rows() + draw.salt) % 2) * (count - 1)
    if draw.family in ("first_token", "last_token"):
        return torch.full(draw.shape, 0 if draw.family == "first_token" else count - 1)
    return draw.uniform(0, count)


def _place_runs(ids: torch.Tensor, real: torch.Tensor, draw: _Draw) -> None:
    """Write the special tokens into one row; those that have no fixed place move with it."""
    positions = real.nonzero().flatten()
    start = _take_edge(ids, positions, draw.domain.runs, Place.START)
    end = len(positions) - _take_edge(ids, positions.flip(0), draw.domain.runs, Place.END)
    loose = [run for run in draw.domain.runs if run.place is Place.ANYWHERE]
    spare = max(0, end - start - sum(len(run.tokens) for run in loose))
    offset = int(torch.randint(0, spare + 1, (1,), generator=draw.generator))
    at = start + (offset + draw.salt) % (spare + 1)
    for run in loose:
        where = positions[at : at + len(run.tokens)]
        ids[where] = torch.tensor(run.tokens)[: len(where)]
        at += len(run.tokens)


def _take_edge(
    ids: torch.Tensor, positions: torch.Tensor, runs: tuple[Run, ...], place: Place
) -> int:
    """Write the runs of one edge, outermost first; returns how many positions they take."""
    tokens = [token for run in runs if run.place is place for token in run.tokens]
    tokens = tokens[::-1] if place is Place.END else tokens
    where = positions[: len(tokens)]
    ids[where] = torch.tensor(tokens, dtype=ids.dtype)[: len(where)]
    return len(where)


def _positions(draw: _Draw) -> torch.Tensor:
    """Positions counted from the first real token, as generation counts them."""
    real = draw.real
    counted = real.long().cumsum(-1) - 1
    return counted.masked_fill(~real, _PADDED_POSITION).to(draw.domain.dtype)


def _area(draw: _Draw) -> torch.Tensor:
    """Ones in the upper left rectangle of each image, of another size in each and every family."""
    images = math.prod(draw.shape[:-2])
    down, across = (
        _mask(replace(draw, domain=replace(draw.domain, shape=(images, side), batched=False)))
        for side in draw.shape[-2:]
    )
    area = down.unsqueeze(-1) * across.unsqueeze(-2)
    return area.view(draw.shape).to(draw.domain.dtype)


def _marks(draw: _Draw) -> torch.Tensor:
    ids = draw.drawn[draw.domain.marked or ""]
    marks = torch.zeros(ids.shape, dtype=draw.domain.dtype)
    for token, mark in draw.domain.marks:
        marks.masked_fill_(ids == token, mark)
    return marks


def _float(draw: _Draw) -> torch.Tensor:
    domain = draw.domain
    middle, spread = (domain.low + domain.high) / 2, (domain.high - domain.low) / 2
    values = (middle + spread * _unit_values(draw)).clamp(domain.low, domain.high)
    if domain.mask in draw.masks:
        values = values * _alongside(draw.real, values)
    elif domain.shortest is not None:
        values = values * _mask(draw)
    return values.to(domain.dtype)


def _alongside(real: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """A mask that broadcasts with what it belongs to, whose channels may stand before pixels."""
    if values.shape[: real.ndim] == real.shape:
        return real.view(*real.shape, *[1] * (values.ndim - real.ndim))
    return real.unsqueeze(-3)


def _unit_values(draw: _Draw) -> torch.Tensor:
    """Values of a family in [-1, 1]; a sixth of that is the standard deviation of noise."""
    if draw.family == "constant":
        level = 0.05 + 0.1 * draw.share
        return (level + 0.02 * (draw.rows() + draw.salt)).expand(draw.shape).clone()
    if draw.family == "ramp":
        count = max(2, math.prod(draw.shape[1:]))
        slope = 0.3 + 0.4 * draw.share
        return (draw.order() / (count - 1) - 0.5) * slope + 0.02 * (draw.rows() + draw.salt)
    if draw.family == "extremes":
        return draw.uniform(0, 2).float() * 2 - 1
    return torch.randn(draw.shape, generator=draw.generator) / 6


def _boxes(draw: _Draw) -> torch.Tensor:
    """Corners of rectangles; padding has one without area at the origin."""
    low, high = draw.domain.low, draw.domain.high
    corners = _corners(draw).clamp(0, 1 - 1e-6).view(*draw.shape[:-1], 2, 2).sort(-2).values
    boxes = low + (high - low) * corners.view(draw.shape)
    if draw.domain.mask in draw.masks:
        boxes = boxes * draw.real.unsqueeze(-1)
    return boxes.to(draw.domain.dtype)


def _corners(draw: _Draw) -> torch.Tensor:
    """Coordinates of a family in [0, 1]."""
    if draw.family == "constant":
        corners = torch.tensor([0.2, 0.3, 0.6, 0.5]) + 0.02 * (draw.rows() + draw.salt)
        return corners.expand(draw.shape)
    if draw.family == "ramp":
        size = math.prod(draw.shape[1:-1])
        start = torch.arange(size).view(1, *draw.shape[1:-1], 1) / (2 * size)
        return start + torch.tensor([0.0, 0.1, 0.2, 0.3]) + 0.02 * (draw.rows() + draw.salt)
    if draw.family == "extremes":
        return draw.uniform(0, 2).float()
    return torch.rand(draw.shape, generator=draw.generator)


def _index(draw: _Draw) -> torch.Tensor:
    low, high = int(draw.domain.low), int(draw.domain.high)
    count = max(1, high - low)
    if draw.family == "constant":
        values = torch.full(draw.shape, low + (draw.mark + 1 + draw.salt) % count)
    elif draw.family == "ramp":
        values = low + (draw.order() + draw.rows() + draw.salt) % count
    elif draw.family == "extremes":
        values = low + draw.uniform(0, 2) * (count - 1)
    else:
        values = draw.uniform(low, high)
    return values.to(draw.domain.dtype)


def _bool(draw: _Draw) -> torch.Tensor:
    if draw.domain.true is None:
        return draw.uniform(0, 2).to(draw.domain.dtype)
    chance = torch.rand(draw.shape, generator=draw.generator)
    return (chance.argsort(-1) < draw.domain.true).to(draw.domain.dtype)


def _fixed(draw: _Draw) -> torch.Tensor:
    """The leaf as it is; its samples are repeated for a larger batch."""
    value = draw.domain.value
    if value is None:
        raise ValueError(f"{draw.path} is fixed but has no value")
    if not draw.domain.batched:
        return value.clone()
    rows = torch.arange(draw.shape[0]) % len(value)
    return value[rows].clone()


_KINDS: Final[Mapping[Kind, Callable[[_Draw], torch.Tensor]]] = {
    Kind.TOKENS: _tokens,
    Kind.MASK: _mask,
    Kind.AREA: _area,
    Kind.POSITIONS: _positions,
    Kind.MARKS: _marks,
    Kind.INDEX: _index,
    Kind.BOXES: _boxes,
    Kind.FLOAT: _float,
    Kind.BOOL: _bool,
    Kind.FIXED: _fixed,
}
