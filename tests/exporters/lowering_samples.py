"""Calls of an aten op, as PyTorch's own samples of its public functions make them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from exporters.neuron.lowerings import (
    LOWERINGS,
    accumulating,
    ordering,
    overhanging,
    rounding,
    slicing,
)
from exporters.neuron.ops import overload_of

__all__ = [
    "SAMPLED",
    "Call",
    "calls_of",
    "made_calls",
    "main_dtype",
    "relaid",
    "strided",
    "transposed",
]


@dataclass(frozen=True)
class Call:
    """The arguments of an op."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        return str(tree_map_only(torch.Tensor, _described, (self.args, self.kwargs)))


def _described(tensor: torch.Tensor) -> str:
    return f"{tensor.dtype}{list(tensor.shape)}"


class _Recorder(TorchDispatchMode):
    def __init__(self, op: Any) -> None:
        super().__init__()
        self.op = op
        self.calls: list[Call] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is self.op:
            self.calls.append(Call(_copied(args), _copied(kwargs or {})))
        return func(*args, **(kwargs or {}))


def _copied(tree: Any) -> Any:
    return tree_map_only(torch.Tensor, _same_layout, tree)


def _same_layout(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone(memory_format=torch.preserve_format)


# PyTorch's functions whose samples call the op, where they are not of the op's own name.
_SAMPLES: dict[str, tuple[str, ...]] = {
    "aten::_fft_c2c": ("fft.fft", "fft.ifft", "fft.fft2", "fft.ifftn", "fft.fftn"),
    "aten::_fft_r2c": ("fft.rfft", "fft.fft", "fft.rfftn", "fft.ihfft", "fft.rfft2"),
    "aten::_fft_c2r": ("fft.irfft", "fft.irfftn", "fft.hfft", "fft.hfftn"),
    "aten::grid_sampler_2d": ("nn.functional.grid_sample", "grid_sampler_2d"),
    "aten::grid_sampler_3d": ("nn.functional.grid_sample", "grid_sampler_3d"),
    "aten::upsample_linear1d": ("nn.functional.interpolate",),
    "aten::upsample_bicubic2d": ("nn.functional.interpolate",),
    "aten::upsample_nearest1d": ("nn.functional.interpolate", "nn.functional.upsample_nearest"),
    "aten::upsample_nearest3d": ("nn.functional.interpolate", "nn.functional.upsample_nearest"),
    "aten::_upsample_nearest_exact1d": ("nn.functional.interpolate",),
    "aten::_upsample_nearest_exact2d": ("nn.functional.interpolate",),
    "aten::_upsample_nearest_exact3d": ("nn.functional.interpolate",),
    "aten::_adaptive_avg_pool2d": ("nn.functional.adaptive_avg_pool2d",),
    "aten::_adaptive_avg_pool3d": ("nn.functional.adaptive_avg_pool3d",),
    "aten::im2col": ("nn.functional.unfold",),
    "aten::col2im": ("nn.functional.fold",),
    "aten::nonzero": ("nonzero", "argwhere"),
    "aten::_conj_physical": ("conj_physical",),
    "aten::_unique2": ("unique",),
    "aten::linalg_cross": ("cross", "linalg.cross"),
}


# Those that stand for kernels of torch_xla that are wrong.
_TESTED_ELSEWHERE = (accumulating, ordering, overhanging, rounding, slicing)
SAMPLED = sorted(
    set(LOWERINGS) - {one.op for family in _TESTED_ELSEWHERE for one in family.LOWERINGS}
)
"""The ops of which there are samples."""


def _name(op: str) -> str:
    return op.partition("::")[2].partition(".")[0]


def main_dtype(op: str) -> torch.dtype:
    """A dtype of which there are calls: float32, but for the ops that take no floats."""
    others = {"aten::bincount": torch.int64, "aten::_conj_physical": torch.complex64}
    return others.get(op, torch.float32)


def calls_of(op: str, dtype: torch.dtype) -> Iterator[Call]:
    """Every call of `op` that the samples of its functions make with tensors of `dtype`."""
    target = overload_of(op)
    for info in _infos(_SAMPLES.get(op) or (_name(op), f"nn.functional.{_name(op)}")):
        if dtype not in info.dtypes:
            continue
        for sample in info.sample_inputs("cpu", dtype):
            with torch.no_grad(), _Recorder(target) as recorder:
                info.op(sample.input, *sample.args, **sample.kwargs)
            yield from recorder.calls


@cache
def _infos(names: Sequence[str]) -> tuple[Any, ...]:
    from torch.testing._internal.common_methods_invocations import op_db

    return tuple(info for info in op_db if info.name in names)


def made_calls(op: str) -> list[Call]:
    """Calls of our own, most in float32: of ops without samples, and what samples leave out."""
    torch.manual_seed(0)
    return [Call(args, {}) for args in _MADE.get(op, list)()]


def _spectra() -> list[tuple[Any, ...]]:
    """Primes, powers and products beyond the size of one matrix; axes in any order."""
    sizes = [1, 2, 7, 97, 255, 256, 257, 300, 509, 512, 521, 2 * 263, 3 * 5 * 7 * 11]
    one_axis = [(torch.randn(3, size, dtype=torch.complex64), [1]) for size in sizes]
    cube = torch.randn(6, 5, 300, dtype=torch.complex64)
    axes = [[2, 0, 1], [1, 2], [0, 2], [1]]
    return [*one_axis, *((cube, dims) for dims in axes)]


def _c2c() -> list[tuple[Any, ...]]:
    return [
        (x, dims, norm, forward)
        for x, dims in _spectra()
        for norm in (0, 1, 2)
        for forward in (True, False)
    ]


def _r2c() -> list[tuple[Any, ...]]:
    return [
        (x.real, dims, norm, onesided)
        for x, dims in _spectra()
        for norm in (0, 1, 2)
        for onesided in (True, False)
        if dims
    ]


def _c2r() -> list[tuple[Any, ...]]:
    return [
        (x, dims, norm, size)
        for x, dims in _spectra()
        if dims
        for norm in (0, 1, 2)
        for size in (2 * x.shape[dims[-1]] - 2, 2 * x.shape[dims[-1]] - 1)
        if size > 0
    ]


def _weight_norms() -> list[tuple[Any, ...]]:
    shapes = [(4, 2, 3), (1, 5), (3,), (2, 3, 4, 5)]
    return [
        (v, torch.rand([size if a == dim else 1 for a, size in enumerate(v.shape)]) + 1, dim)
        for v in map(torch.randn, shapes)
        for dim in {0, v.dim() - 1}
    ]


def _antialiased() -> list[tuple[Any, ...]]:
    image = torch.randn(2, 3, 13, 10)
    sizes = [(5, 4), (13, 10), (27, 21), (1, 1), (6, 20)]
    plain = [(image, list(size), corners) for size in sizes for corners in (False, True)]
    # With the last scales the outer pixels are of places outside of the image.
    return [*plain, (image, [7, 8], False, 0.55, 0.81), (image, [9, 9], False, 0.5, 0.9)]


def _folds() -> list[tuple[Any, ...]]:
    return [
        (torch.randn(2, 3 * 4, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]),
        (torch.randn(3 * 6, 12), [9, 7], [3, 2], [2, 1], [1, 0], [2, 2]),
    ]


def _masked_writes() -> list[tuple[Any, ...]]:
    x = torch.randn(4, 3, 5)
    rows, matrix = torch.tensor([True, False, True, True]), torch.randn(4, 3) > 0
    count, nothing = int(matrix.sum()), torch.zeros(4, 3, dtype=torch.bool)
    return [
        (x, [rows], torch.tensor(2.0)),
        (x, [rows], torch.randn(3, 3, 5)),
        (x, [rows], torch.randn(1, 3, 5), True),
        (x, [matrix], torch.randn(count, 5)),
        (x, [matrix], torch.randn(5)),
        (x, [matrix], torch.randn(count, 1), True),
        (x, [None, None, torch.tensor([True, False, True, False, True])], torch.randn(4, 3, 3)),
        (x, [None, torch.tensor([True, False, True])], torch.randn(2, 1)),
        (x, [x > 0], torch.randn(int((x > 0).sum()))),
        (x, [nothing], torch.randn(0, 5)),
        (x, [torch.zeros(4, dtype=torch.bool)], torch.tensor(1.0)),
    ]


def _masked_scatters() -> list[tuple[Any, ...]]:
    """As vision language models write images into a text."""
    text, image = torch.randn(2, 7, 4), torch.randn(5, 4)
    tokens = torch.tensor([[0, 1, 1, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0, 1]]).bool()
    return [
        (text, tokens.unsqueeze(-1).expand_as(text), image),
        (text, tokens.unsqueeze(-1), torch.randn(9, 4)),
        (text, torch.zeros(2, 7, 1, dtype=torch.bool), torch.randn(0)),
        (torch.tensor(1.0), torch.tensor(True), torch.tensor([5.0])),
        (text[:0], tokens[:0].unsqueeze(-1), image),
    ]


def _pools() -> list[tuple[Any, ...]]:
    image = torch.randn(2, 3, 7, 10)
    sizes = [[1, 1], [2, 3], [7, 10], [6, 4], [9, 12]]
    return [*((image, size) for size in sizes), (image[0], [3, 4]), (image[:0], [3, 4])]


def _patches() -> list[tuple[Any, ...]]:
    image = torch.randn(2, 3, 12, 9)
    return [
        (image, [3, 3], [1, 1], [1, 1], [1, 1]),
        (image, [4, 3], [1, 1], [0, 0], [4, 3]),
        (image, [5, 1], [2, 1], [4, 0], [3, 2]),
        (image, [11, 8], [1, 1], [0, 0], [1, 1]),
        (image[:, :, :, ::2], [2, 2], [1, 1], [0, 1], [2, 2]),
        (image[0], [2, 2], [1, 1], [0, 0], [2, 2]),
        (image[:0], [2, 2], [1, 1], [0, 0], [2, 2]),
    ]


def _samplings() -> list[tuple[Any, ...]]:
    """Places in the middle, on the edges and far outside, and a grid for all of the batch."""
    image = torch.randn(2, 3, 5, 7)
    grids = [torch.rand(2, 4, 6, 2) * 4 - 2, torch.rand(1, 4, 6, 2).expand(2, -1, -1, -1)]
    options = [(m, p, c) for m in range(3) for p in range(3) for c in (False, True)]
    one = (torch.randn(2, 3, 1, 1), grids[0])
    return [(*pair, *o) for pair in [(image, g) for g in grids] + [one] for o in options]


def _searches() -> list[tuple[Any, ...]]:
    edges = torch.tensor([-1.0, 0.0, 0.0, 2.0])
    # A number of Python is of the dtype of the sequence: 0.3 in float32 is more than it is.
    fine = torch.tensor([0.1, 0.3], dtype=torch.float64)
    return [*((edges, value) for value in (-5.0, 0.0, 0.5, 3.0)), (fine, 0.3)]


_MADE: dict[str, Callable[[], list[tuple[Any, ...]]]] = {
    "aten::_fft_c2c": _c2c,
    "aten::_fft_r2c": _r2c,
    "aten::_fft_c2r": _c2r,
    "aten::_weight_norm_interface": _weight_norms,
    "aten::_upsample_bilinear2d_aa": _antialiased,
    "aten::_upsample_bicubic2d_aa": _antialiased,
    "aten::upsample_bicubic2d": _antialiased,
    "aten::col2im": _folds,
    "aten::index_put": _masked_writes,
    "aten::masked_scatter": _masked_scatters,
    "aten::_adaptive_avg_pool2d": _pools,
    "aten::adaptive_max_pool2d": _pools,
    "aten::im2col": _patches,
    "aten::grid_sampler_2d": _samplings,
    "aten::searchsorted.Scalar": _searches,
    "aten::bucketize.Scalar": lambda: [(value, edges) for edges, value in _searches()],
}


def relaid(call: Call, layout: Callable[[torch.Tensor], torch.Tensor]) -> Call:
    """The same call with its tensors in memory in another way."""
    args, kwargs = tree_map_only(torch.Tensor, layout, (call.args, call.kwargs))
    return Call(args, kwargs)


def transposed(tensor: torch.Tensor) -> torch.Tensor:
    """The values of `tensor`, the first axis the fastest in memory."""
    return tensor.transpose(0, -1).contiguous().transpose(0, -1) if tensor.dim() else tensor


def strided(tensor: torch.Tensor) -> torch.Tensor:
    """The values of `tensor`, every other element in memory."""
    return torch.stack([tensor, tensor], -1)[..., 0]
