"""Real padding in the masks of an example that has none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from exporters.tree import substitute, tensor_leaves
from testing.inputs.domains import Domain, Kind
from testing.inputs.sampling import TRACED, sample

__all__ = ["padded"]


def padded(
    example: Mapping[str, Any], domains: Mapping[str, Domain], batch_size: int, seed: int
) -> dict[str, Any]:
    """A copy of `example` with padding in every mask that is all ones, and in the ids under it.

    A model that reads ``mask.all()`` while it is traced (transformers' sdpa path) drops a mask
    of ones from the program, which then is wrong for every padded batch. A mask that has zeros
    stays as it is, and so does every leaf but masks and token ids.

    Args:
        example: Keyword inputs of a forward; no tensor is in it twice.
        domains: Domain of each of its leaves by its dotted path.
        batch_size: Its batch.
        seed: What the draw of a mask derives from.
    """
    originals = tensor_leaves(dict(example))
    masks = {
        path: _mask(domain, batch_size, seed)
        for path, domain in domains.items()
        if domain.kind is Kind.MASK and bool(originals[path].all())
    }
    ids = {
        path: _padded_ids(originals[path], masks[domain.mask].bool(), domain)
        for path, domain in domains.items()
        if domain.kind is Kind.TOKENS and domain.mask in masks
    }
    replaced = {id(originals[path]): leaf for path, leaf in {**masks, **ids}.items()}
    return dict(substitute(dict(example), replaced))


def _mask(domain: Domain, batch_size: int, seed: int) -> torch.Tensor:
    """A mask with padding; the first row of the first draw has none, and may be the only one."""
    drawn = (sample({"": domain}, TRACED, batch_size, seed, salt)[""] for salt in (0, 1))
    return next(mask for mask in drawn if not mask.all())


def _padded_ids(ids: torch.Tensor, real: torch.Tensor, domain: Domain) -> torch.Tensor:
    """The last ids of each row make room for padding, save the tokens that every sample has."""
    kept = {token for run in domain.runs for token in run.tokens}
    rows = zip(ids.flatten(0, -2).tolist(), real.flatten(0, -2).sum(1).tolist(), strict=True)
    values = [_shortened(row, length, kept, domain.pad) for row, length in rows]
    return torch.tensor(values, dtype=ids.dtype).view(ids.shape)


def _shortened(row: list[int], length: int, kept: set[int], pad: int) -> list[int]:
    """A row without its last regular ids, and as many pad tokens behind it."""
    regular = [position for position, token in enumerate(row) if token not in kept]
    count = len(row) - length
    dropped = set(regular[len(regular) - count :])
    return [token for position, token in enumerate(row) if position not in dropped] + [pad] * count
