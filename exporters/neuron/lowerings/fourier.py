"""Discrete Fourier transforms as products with matrices, in all sizes, norms and axes.

A length that is composite is split as Cooley and Tukey do, so that no matrix is larger than the
length's largest prime factor or `_DIRECT`; a neural accelerator multiplies such matrices faster
than it shuffles data for a finer split.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from exporters.neuron.lowerings.base import Lowering
from exporters.neuron.lowerings.parts import join_complex, split_complex, unflatten

if TYPE_CHECKING:
    import torch

__all__ = ["LOWERINGS"]

_DIRECT: Final = 256
_LARGEST_PRIME: Final = 4096
"""A matrix of this size takes 64 MB in float32, and a transform needs two."""
_SOURCE: Final = "pytorch.org/docs/stable/fft.html; Cooley and Tukey 1965"
_Pair = tuple["torch.Tensor", "torch.Tensor | None"]


def fft_c2c(
    self: torch.Tensor, dim: Sequence[int], normalization: int, forward: bool
) -> torch.Tensor:
    """``aten::_fft_c2c``: complex to complex over the axes `dim`."""
    sign = -1 if forward else 1
    pair: _Pair = split_complex(self)
    for axis in dim:
        pair = _along(pair, axis, sign)
    return _joined(pair, _scale(normalization, [self.shape[axis] for axis in dim]))


def fft_r2c(
    self: torch.Tensor, dim: Sequence[int], normalization: int, onesided: bool
) -> torch.Tensor:
    """``aten::_fft_r2c``: real to complex; the last of `dim` is cut to the half if `onesided`."""
    last, size = dim[-1], self.shape[dim[-1]]
    pair = _along((self, None), last, -1)
    if onesided:
        pair = _each(pair, lambda part: part.narrow(last, 0, size // 2 + 1))
    for axis in dim[:-1]:
        pair = _along(pair, axis, -1)
    return _joined(pair, _scale(normalization, [self.shape[axis] for axis in dim]))


def fft_c2r(
    self: torch.Tensor, dim: Sequence[int], normalization: int, last_dim_size: int
) -> torch.Tensor:
    """``aten::_fft_c2r``: half of a Hermitian spectrum to `last_dim_size` real values."""
    pair: _Pair = split_complex(self)
    for axis in dim[:-1]:
        pair = _along(pair, axis, 1)
    real, _ = _along(_mirrored(pair, dim[-1], last_dim_size), dim[-1], 1)
    sizes = [*(self.shape[axis] for axis in dim[:-1]), last_dim_size]
    return real * _scale(normalization, sizes)


def _covers(self: torch.Tensor, dim: Sequence[int], *_: object) -> bool:
    import torch

    known = (torch.float32, torch.float64, torch.complex64, torch.complex128)
    return self.dtype in known and all(_is_feasible(self.shape[axis]) for axis in dim)


def _covers_c2r(
    self: torch.Tensor, dim: Sequence[int], normalization: int, last_dim_size: int
) -> bool:
    return (
        _covers(self, dim[:-1])
        and _is_feasible(last_dim_size)
        and self.shape[dim[-1]] == last_dim_size // 2 + 1
    )


def _is_feasible(size: int) -> bool:
    return size >= 1 and (size <= _DIRECT or _factors(size)[-1] <= _LARGEST_PRIME)


def _scale(normalization: int, sizes: Sequence[int]) -> float:
    """What ATen's ``fft_norm_mode`` stands for: 0 nothing, 1 by the root of n, 2 by n."""
    count = math.prod(sizes)
    return (1.0, 1 / math.sqrt(count), 1 / count)[normalization]


def _joined(pair: _Pair, scale: float) -> torch.Tensor:
    real, imaginary = pair
    return join_complex(
        real * scale, real.new_zeros(real.shape) if imaginary is None else imaginary * scale
    )


def _each(pair: _Pair, change: Callable[[torch.Tensor], torch.Tensor]) -> _Pair:
    real, imaginary = pair
    return change(real), None if imaginary is None else change(imaginary)


def _mirrored(pair: _Pair, axis: int, size: int) -> _Pair:
    """The whole spectrum, of which ``pair`` is the first half: bin -k is the conjugate of k."""
    import torch

    real, imaginary = pair
    assert imaginary is not None
    rest = size - real.shape[axis]
    tails = [part.narrow(axis, 1, rest).flip(axis) for part in (real, imaginary)]
    return torch.cat([real, tails[0]], axis), torch.cat([imaginary, -tails[1]], axis)


def _along(pair: _Pair, axis: int, sign: int) -> _Pair:
    moved = _each(pair, lambda part: part.movedim(axis, -1))
    return _each(_transform(moved, sign), lambda part: part.movedim(-1, axis))


def _transform(pair: _Pair, sign: int) -> _Pair:
    """The sums of x[j] exp(sign 2 pi i j k / n) over the last axis."""
    size = pair[0].shape[-1]
    factors = _factors(size)
    if size <= _DIRECT or len(factors) == 1:
        return _times_matrix(pair, sign)
    outer = _balanced(factors)
    inner = size // outer
    # j = inner * j1 + j2 and k = k1 + outer * k2.
    columns = _each(pair, lambda part: unflatten(part, -1, (outer, inner)).transpose(-1, -2))
    turned = _turned(_transform(columns, sign), size, sign)
    rows = _transform(_each(turned, lambda part: part.transpose(-1, -2)), sign)
    return _each(rows, lambda part: part.transpose(-1, -2).flatten(-2))


def _times_matrix(pair: _Pair, sign: int) -> _Pair:
    real, imaginary = pair
    size = real.shape[-1]
    cosine, sine = _roots(size, size, size, sign, real)
    if imaginary is None:
        return real @ cosine, real @ sine
    return real @ cosine - imaginary @ sine, real @ sine + imaginary @ cosine


def _turned(pair: _Pair, size: int, sign: int) -> _Pair:
    """``pair[j, k]`` times the size-th root of unity to the power ``j k``."""
    real, imaginary = pair
    cosine, sine = _roots(real.shape[-2], real.shape[-1], size, sign, real)
    if imaginary is None:
        return real * cosine, real * sine
    return real * cosine - imaginary * sine, real * sine + imaginary * cosine


def _roots(
    rows: int, columns: int, size: int, sign: int, like: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Real and imaginary parts of ``exp(sign 2 pi i j k / size)``, correctly rounded.

    They are data of the graph: computed on the host, in double precision, from exact angles.
    """
    import torch

    powers = torch.arange(rows)[:, None] * torch.arange(columns) % size
    angles = powers.double() * (2 * math.pi / size)
    cosine, sine = angles.cos(), sign * angles.sin()
    return cosine.to(like.dtype).to(like.device), sine.to(like.dtype).to(like.device)


def _factors(size: int) -> list[int]:
    """The prime factors of `size`, ascending."""
    factors, divisor = [], 2
    while divisor * divisor <= size:
        while size % divisor == 0:
            factors.append(divisor)
            size //= divisor
        divisor += 1
    return [*factors, size] if size > 1 or not factors else factors


def _balanced(factors: Sequence[int]) -> int:
    """A divisor near the root of the product of its prime factors."""
    size = math.prod(factors)
    divisors = {1}
    for factor in factors:
        divisors |= {factor * divisor for divisor in divisors}
    return max(divisor for divisor in divisors if divisor * divisor <= size)


LOWERINGS: Final = (
    Lowering(
        op="aten::_fft_c2c",
        function=fft_c2c,
        covers=_covers,
        summary="Products with matrices of cosines and sines, over one axis after the other.",
        source=_SOURCE,
    ),
    Lowering(
        op="aten::_fft_r2c",
        function=fft_r2c,
        covers=_covers,
        summary="Products of the real values with matrices of cosines and sines.",
        source=_SOURCE,
    ),
    Lowering(
        op="aten::_fft_c2r",
        function=fft_c2r,
        covers=_covers_c2r,
        summary="The spectrum is completed by its symmetry and multiplied with matrices.",
        source=_SOURCE,
    ),
)
