"""Domains of a foreign test's example inputs, from their names, values and the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import torch

from exporters.tree import leaves
from testing.inputs.domains import Domain, Kind, Place, Run

__all__ = ["infer_domains", "special_tokens"]

_TOKENS = re.compile(r"(.*[._])?(input_)?ids")
_NO_TOKENS = re.compile(r"(.*[._])?(token_type|position|aspect_ratio|task|lang|speaker)_ids")
_MASK = re.compile(r"(.*[._])?mask")
_HEAD_MASK = re.compile(r"(.*[._])?head_mask")
_POSITIONS = re.compile(r"(.*[._])?position_ids")
_STRUCTURE = re.compile(r"(.*[._])?(grid_thw|.*sizes?|.*shapes?|.*lengths?|.*_lens?|num_.*)")
_SPECIAL = re.compile(r".*_token_(ids?|index)|.*_(pad|bos|eos|image|audio)_id|(bos|eos|pad)_index")
# Tokens that stand for something (an image, an end) and of which a model counts on having some.
_COUNTED = re.compile(r"(image|video|audio|eos|sep|vision|media|speech).*")

_A_PYTHON_VALUE: Final = "a Python value is a constant of the program"
_A_HEAD_MASK: Final = "it belongs to the heads and not to the data"
_A_STRUCTURE: Final = "it states sizes that other inputs must agree with"
_ONE_VALUE: Final = "its domain has a single value"
_NO_ROOM: Final = "the special tokens of a sample leave no room for padding"


def infer_domains(example: Mapping[str, Any], config: Any = None) -> tuple[int, dict[str, Domain]]:
    """The batch size of `example` and the domain of each of its leaves, by path.

    Raises:
        ValueError: The example holds no tensor.
    """
    found = leaves(dict(example))
    tensors = {path: leaf for path, leaf in found.items() if isinstance(leaf, torch.Tensor)}
    batched = [leaf for leaf in tensors.values() if leaf.ndim]
    if not batched:
        raise ValueError(f"no input with a batch axis among {', '.join(found) or 'none'}")
    inference = _Inference(tensors, config, batch_size=len(batched[0]))
    return inference.batch_size, {
        path: inference.domain(path) if path in tensors else _constant(leaf)
        for path, leaf in found.items()
    }


def special_tokens(config: Any) -> dict[str, int]:
    """Special token ids of a configuration and its nested ones, by dotted name."""
    return dict(_special_tokens(config, "", 0))


def _special_tokens(config: Any, prefix: str, depth: int) -> Iterator[tuple[str, int]]:
    for name, value in vars(config).items() if hasattr(config, "__dict__") else ():
        if hasattr(value, "model_type") and depth < 3:
            yield from _special_tokens(value, f"{prefix}{name}.", depth + 1)
        elif _SPECIAL.fullmatch(name):
            ids = value if isinstance(value, (list, tuple)) else [value]
            numbers = [token for token in ids if isinstance(token, int) and token >= 0]
            yield from ((f"{prefix}{name}.{i}", token) for i, token in enumerate(numbers))


def _constant(leaf: Any) -> Domain:
    return Domain(Kind.FIXED, (), batched=False, reason=_A_PYTHON_VALUE)


class _Inference:
    """Domains of the leaves of one example."""

    def __init__(self, tensors: Mapping[str, torch.Tensor], config: Any, batch_size: int) -> None:
        self.tensors = tensors
        self.config = config
        self.batch_size = batch_size
        self.special = special_tokens(config)

    def domain(self, path: str) -> Domain:
        leaf = self.tensors[path]
        if _HEAD_MASK.fullmatch(path):
            return self._fixed(path, _A_HEAD_MASK)
        if leaf.is_floating_point() and not _is_padding(path, leaf):
            return self._float(path)
        if leaf.dtype is torch.bool and not _is_padding(path, leaf):
            return Domain(Kind.BOOL, **self._place(path))
        return self._integer(path)

    def _integer(self, path: str) -> Domain:
        leaf = self.tensors[path]
        if _is_padding(path, leaf):
            return self._mask(path)
        if _is_tokens(path):
            return self._tokens(path)
        mask = self._mask_of_each(path)
        if _POSITIONS.fullmatch(path) and mask:
            return Domain(Kind.POSITIONS, mask=mask, **self._place(path))
        return self._index(path)

    def _mask(self, path: str) -> Domain:
        length = self.tensors[path].shape[-1]
        shortest = max(1, length // 2, self._longest_runs(path))
        if shortest >= length:
            return self._fixed(path, _NO_ROOM)
        return Domain(Kind.MASK, shortest=shortest, **self._place(path))

    def _longest_runs(self, mask: str) -> int:
        """The most counted tokens in a sample of the ids under a mask."""
        ids = [p for p in self.tensors if _is_tokens(p) and self._mask_of_each(p) == mask]
        counts = [sum(len(run.tokens) for run in self._tokens(path).runs) for path in ids]
        return max(counts, default=0)

    def _index(self, path: str) -> Domain:
        leaf = self.tensors[path]
        if _STRUCTURE.fullmatch(path):
            return self._fixed(path, _A_STRUCTURE)
        if not leaf.numel() or leaf.min() == leaf.max():
            return self._fixed(path, _ONE_VALUE)
        low, high = int(leaf.min()), int(leaf.max()) + 1
        return Domain(Kind.INDEX, low=low, high=high, **self._place(path))

    def _float(self, path: str) -> Domain:
        leaf = self.tensors[path]
        low, high = -6.0, 6.0
        if leaf.numel() and float(leaf.min()) >= 0 and float(leaf.max()) <= 1:
            low, high = 0.0, 1.0
        if not leaf.numel():
            return self._fixed(path, _ONE_VALUE)
        mask = self._mask_of(path)
        return Domain(Kind.FLOAT, low=low, high=high, mask=mask, **self._place(path))

    def _tokens(self, path: str) -> Domain:
        leaf = self.tensors[path]
        high = max(self._vocabulary(path), int(leaf.max()) + 1)
        pad = next((t for n, t in self.special.items() if "pad" in n and t < high), 0)
        return Domain(
            Kind.TOKENS,
            high=high,
            pad=pad,
            excluded=frozenset(self.special.values()),
            mask=self._mask_of_each(path),
            runs=self._runs(leaf, pad),
            **self._place(path),
        )

    def _runs(self, leaf: torch.Tensor, pad: int) -> tuple[Run, ...]:
        """Runs of counted special tokens, when every sample has the same number of each."""
        counted = {
            token
            for name, token in self.special.items()
            if token != pad and _COUNTED.fullmatch(name.split(".")[-2])
        }
        rows = leaf.reshape(-1, leaf.shape[-1]).tolist()
        counts = [sorted(token for token in row if token in counted) for row in rows]
        if not counts[0] or any(count != counts[0] for count in counts):
            return ()
        return tuple(_runs_of(rows[0], counted))

    def _vocabulary(self, path: str) -> int:
        name = "decoder" if "decoder" in path else "text_config"
        nested = getattr(self.config, name, None)
        for config in (nested, self.config):
            size = getattr(config, "vocab_size", None)
            if isinstance(size, int):
                return size
        return 0

    def _mask_of(self, path: str) -> str | None:
        """Path of the mask that covers a leaf: beside it, and with the leaf's leading axes."""
        leaf = self.tensors[path]
        parent, _, name = path.rpartition(".")
        prefix = name.partition("input")[0] if "input" in name else ""
        for candidate in (f"{prefix}attention_mask", "attention_mask"):
            full = f"{parent}.{candidate}" if parent else candidate
            mask = self.tensors.get(full)
            if mask is not None and _is_padding(full, mask):
                return full if leaf.shape[: mask.ndim] == mask.shape else None
        return None

    def _mask_of_each(self, path: str) -> str | None:
        """Path of the mask that says of each element of a leaf whether it is padding."""
        mask = self._mask_of(path)
        return mask if mask and self.tensors[mask].shape == self.tensors[path].shape else None

    def _fixed(self, path: str, reason: str) -> Domain:
        value = self.tensors[path].clone()
        return Domain(Kind.FIXED, value=value, reason=reason, **self._place(path))

    def _place(self, path: str) -> dict[str, Any]:
        leaf = self.tensors[path]
        is_batched = bool(leaf.ndim) and len(leaf) > 0 and len(leaf) % self.batch_size == 0
        is_batched = is_batched and not _HEAD_MASK.fullmatch(path)
        if not is_batched:
            return {"shape": tuple(leaf.shape), "dtype": leaf.dtype, "batched": False}
        rows = len(leaf) // self.batch_size
        return {"shape": tuple(leaf.shape[1:]), "dtype": leaf.dtype, "rows": rows}


def _is_tokens(path: str) -> bool:
    return bool(_TOKENS.fullmatch(path) and not _NO_TOKENS.fullmatch(path))


def _is_padding(path: str, leaf: torch.Tensor) -> bool:
    """Whether a leaf is a mask of ones and zeros over batch and sequence."""
    if not _MASK.fullmatch(path) or leaf.ndim not in (2, 3) or leaf.shape[-1] < 2:
        return False
    return bool(((leaf == 0) | (leaf == 1)).all())


def _runs_of(row: list[int], counted: set[int]) -> Iterator[Run]:
    """The maximal runs of counted tokens in a row."""
    run: list[int] = []
    for position, token in enumerate([*row, -1]):
        if token in counted:
            run.append(token)
        elif run:
            is_last = position == len(row)
            yield Run(tuple(run), Place.END if is_last else Place.ANYWHERE)
            run = []
