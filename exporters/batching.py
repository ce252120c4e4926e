"""A program of one batch size on any batch, as ``torch_neuronx.dynamic_batch`` documents it.

The rules are those of the AWS documentation, "PyTorch NeuronX Tracing API for Inference", section
"Dynamic Batching": only axis 0 is split, it must have the same size in every input, and the last
chunk is padded. What the padding holds is not documented; zeros are used, so that a model which
lets samples see each other is found out instead of seeing a copy of a real sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from exporters.base import ExportError
from exporters.tree import leaves, substitute, tensor_leaves

__all__ = ["BatchError", "common_batch", "run_in_chunks"]


class BatchError(ExportError, ValueError):
    """Axis 0 of a leaf is not the batch, so that the model cannot run in chunks.

    Attributes:
        leaf: Path of the leaf; ``""`` is a bare tensor.
    """

    def __init__(self, leaf: str, message: str) -> None:
        super().__init__(f"{leaf or 'the tensor'}: {message}")
        self.leaf = leaf


def run_in_chunks(
    call: Callable[[dict[str, Any]], Any], inputs: Mapping[str, Any], batch_size: int
) -> Any:
    """Run `call`, which takes only batches of `batch_size`, on inputs of any batch size.

    Args:
        call: The program; it gets its own copy of one chunk of the inputs, as keywords.
        inputs: Keyword inputs; axis 0 of every tensor leaf is the batch. They are not changed.
        batch_size: The batch of the trace.

    Returns:
        The output of the first chunk with every tensor leaf joined over all chunks on axis 0 and
        cut to the real batch. Leaves that are no tensors are those of the first chunk.

    Raises:
        BatchError: An input leaf has no axis 0 or another size there than the others, an output
            leaf is not as long on axis 0 as the chunk, or chunks differ in what is no tensor.
    """
    if batch_size < 1:
        raise ValueError(f"a batch holds at least one sample, not {batch_size}")
    batch = common_batch(inputs)
    outputs = [call(chunk) for chunk in _chunks(inputs, batch, batch_size)]
    return _joined(outputs, batch, batch_size)


def common_batch(inputs: Mapping[str, Any]) -> int:
    """Size of axis 0 that every tensor leaf of `inputs` has.

    Raises:
        BatchError: A leaf has no axis 0, an empty one, or another size than the first leaf; or
            there is no tensor at all.
    """
    tensors = tensor_leaves(dict(inputs))
    if not tensors:
        raise BatchError("inputs", "no tensor among them, so there is no batch to split")
    first, batch = next((path, _axis_0(path, leaf)) for path, leaf in tensors.items())
    for path, leaf in tensors.items():
        if _axis_0(path, leaf) != batch:
            sizes = f"{leaf.shape[0]} on axis 0, where {first} has {batch}"
            raise BatchError(path, f"{sizes}; a batch is split only where all inputs agree")
    if batch == 0:
        raise BatchError(first, "the batch is empty")
    return batch


def _axis_0(path: str, leaf: torch.Tensor) -> int:
    if leaf.dim() == 0:
        raise BatchError(path, "a scalar tensor has no axis 0 to split")
    return int(leaf.shape[0])


def _chunks(inputs: Mapping[str, Any], batch: int, size: int) -> Iterator[dict[str, Any]]:
    tensors = tensor_leaves(dict(inputs)).values()
    for start in range(0, batch, size):
        pieces = {id(leaf): _piece(leaf, start, size) for leaf in tensors}
        chunk: dict[str, Any] = substitute(dict(inputs), pieces)
        yield chunk


def _piece(leaf: torch.Tensor, start: int, size: int) -> torch.Tensor:
    piece = leaf[start : start + size].clone()
    missing = size - piece.shape[0]
    if not missing:
        return piece
    return torch.cat([piece, piece.new_zeros((missing, *piece.shape[1:]))])


def _joined(outputs: Sequence[Any], batch: int, size: int) -> Any:
    columns = [leaves(output) for output in outputs]
    _check_same_leaves(columns)
    joined: dict[int, torch.Tensor] = {}
    for path, leaf in columns[0].items():
        parts = [column[path] for column in columns]
        if isinstance(leaf, torch.Tensor):
            joined[id(leaf)] = _join(path, parts, size)[:batch]
        else:
            _check_constant(path, parts)
    return substitute(outputs[0], joined)


def _join(path: str, parts: Sequence[Any], size: int) -> torch.Tensor:
    for part in parts:
        if not isinstance(part, torch.Tensor):
            raise BatchError(path, f"a tensor from one chunk and {part!r} from another")
        if part.dim() == 0:
            raise BatchError(path, "a scalar output has no axis 0 to join chunks on")
        if part.shape[0] != size:
            raise BatchError(path, f"{part.shape[0]} on axis 0 from a chunk of {size} samples")
        if part.shape != parts[0].shape or part.dtype != parts[0].dtype:
            kinds = f"{_kind(parts[0])} from one chunk and {_kind(part)} from another"
            raise BatchError(path, kinds)
    return torch.cat(list(parts))


def _kind(tensor: torch.Tensor) -> str:
    return f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"


def _check_same_leaves(columns: Sequence[Mapping[str, Any]]) -> None:
    for column in columns[1:]:
        for path in columns[0].keys() ^ column.keys():
            raise BatchError(path, "an output of some chunks and not of others")


def _check_constant(path: str, parts: Sequence[Any]) -> None:
    for part in parts[1:]:
        # By repr, since NaN differs from itself and these are None, numbers, strings and dtypes.
        if repr(part) != repr(parts[0]):
            raise BatchError(path, f"{parts[0]!r} from one chunk and {part!r} from another")
