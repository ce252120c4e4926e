"""Slices before the start, windows larger than the image, sums of bool: as the CPU's kernels."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

from exporters.neuron.lowerings import LOWERINGS

aten = torch.ops.aten
POOLS: dict[str, tuple[Any, ...]] = {"avg_pool2d": (), "max_pool2d_with_indices": ([1],)}


@pytest.mark.parametrize("bounds", [(-63, None), (-63, -60), (None, -20), (-63, 5), (2, -63)])
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_a_slice_that_starts_before_the_axis(
    bounds: tuple[int | None, int | None], step: int, dim: int
) -> None:
    x = torch.arange(48.0).view(3, 16)
    copy, scatter = LOWERINGS["aten::slice_copy.Tensor"], LOWERINGS["aten::slice_scatter"]
    expected = aten.slice_copy.Tensor(x, dim, *bounds, step)
    source = -torch.ones_like(expected)
    assert copy.covers(x, dim, *bounds, step)
    assert scatter.covers(x, source, dim, *bounds, step)
    assert torch.equal(copy.function(x, dim, *bounds, step), expected)
    scattered = scatter.function(x, source, dim, *bounds, step)
    assert torch.equal(scattered, aten.slice_scatter(x, source, dim, *bounds, step))


@pytest.mark.parametrize("bounds", [(-16, None), (0, 40), (20, None), (None, None), (3, -1)])
def test_other_slices_are_left_to_xla(bounds: tuple[int | None, int | None]) -> None:
    assert not LOWERINGS["aten::slice_copy.Tensor"].covers(torch.zeros(16), 0, *bounds)


@pytest.mark.parametrize("op", POOLS)
def test_windows_larger_than_the_image(op: str) -> None:
    lowering, kernel = LOWERINGS[f"aten::{op}"], getattr(aten, op).default
    tried = 0
    for size, window, stride, pad in itertools.product(
        [(1, 1), (4, 7), (7, 2)], [[8, 8], [8, 3], [9]], [[], [2], [3, 1]], [[0], [1]]
    ):
        x = torch.randn(1, 2, *size)
        arguments = (x, window, stride, pad, *POOLS[op], True)
        if not lowering.covers(*arguments):
            continue
        tried += 1
        torch.testing.assert_close(lowering.function(*arguments), kernel(*arguments))
    assert tried == 20


@pytest.mark.parametrize("op", POOLS)
def test_other_windows_are_left_to_xla(op: str) -> None:
    covers, x = LOWERINGS[f"aten::{op}"].covers, torch.zeros(1, 2, 4, 4)
    assert not covers(x, [3, 3], [], [0], *POOLS[op], True)
    assert not covers(x, [8, 8], [], [0], *POOLS[op], False)
    # PyTorch: "Output size is too small".
    assert not covers(x, [8, 8], [2], [0], *POOLS[op], True)


@pytest.mark.parametrize("dtype", [None, torch.float32])
def test_sums_of_bool_are_int64_or_as_asked_for(dtype: torch.dtype | None) -> None:
    lowering, x = LOWERINGS["aten::cumsum"], torch.tensor([[True, False, True], [True] * 3])
    assert lowering.covers(x, 1)
    found, expected = lowering.function(x, 1, dtype=dtype), x.cumsum(1, dtype=dtype)
    assert found.dtype == expected.dtype
    assert torch.equal(found, expected)
    assert not lowering.covers(x.long(), 1)
