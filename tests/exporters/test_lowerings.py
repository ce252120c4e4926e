"""Lowerings as plain functions on the CPU: each gives what its op gives in eager.

The calls are those that PyTorch's own samples of its functions make, and more of ours.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils._pytree import tree_leaves  # noqa: E402

from exporters.neuron.lowerings import LOWERINGS  # noqa: E402
from exporters.neuron.lowerings.base import evaluating  # noqa: E402
from exporters.neuron.ops import overload_of  # noqa: E402
from tests.exporters.lowering_samples import (  # noqa: E402
    SAMPLED,
    Call,
    calls_of,
    made_calls,
    main_dtype,
    relaid,
    strided,
    transposed,
)

# Of the result's largest element (of 1 where that is smaller), by dtype; what is no float is the
# same to the bit. In half precision eager rounds on the way where a lowering does not.
TOLERANCES = {
    torch.float64: 1e-10,
    torch.complex128: 1e-10,
    torch.float32: 1e-5,
    torch.complex64: 1e-5,
    torch.float16: 5e-3,
    torch.bfloat16: 4e-2,
}
DTYPES = [*TOLERANCES, torch.int64, torch.int32, torch.uint8, torch.bool]
MANY = 40


def some_calls(op: str, dtype: torch.dtype, most: int) -> Iterator[Call]:
    """At most `most` of the calls with tensors of `dtype` that a lowering covers, all kinds."""
    made = made_calls(op) if dtype == torch.float32 else []
    calls = [*made, *calls_of(op, dtype)]
    covered = [call for call in calls if LOWERINGS[op].covers(*call.args, **call.kwargs)]
    return islice(covered, 0, None, -(-len(covered) // most) or 1)


def assert_lowered_as_eager(op: str, call: Call, lowered: Call | None = None) -> None:
    expected = overload_of(op)(*call.args, **call.kwargs)
    lowered = lowered or call
    found = LOWERINGS[op].function(*lowered.args, **lowered.kwargs)
    for result, wanted in zip(tree_leaves(found), tree_leaves(expected), strict=True):
        wide = wanted.to(torch.complex128 if wanted.is_complex() else torch.float64)
        largest = wide.nan_to_num(0, 0, 0).abs().max().item() if wanted.numel() else 0
        tolerance = TOLERANCES.get(wanted.dtype, 0) * max(1, largest)
        torch.testing.assert_close(
            result,
            wanted,
            atol=tolerance,
            rtol=0,
            equal_nan=True,
            msg=lambda text: f"{call}: {text}",
        )


@pytest.mark.parametrize("op", SAMPLED)
def test_a_lowering_gives_what_the_op_gives(op: str) -> None:
    calls = [call for dtype in DTYPES for call in some_calls(op, dtype, MANY)]
    assert calls
    for call in calls:
        assert_lowered_as_eager(op, call)


@pytest.mark.parametrize("layout", [transposed, strided])
@pytest.mark.parametrize("op", SAMPLED)
def test_a_lowering_takes_tensors_of_any_strides(
    op: str, layout: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    for call in some_calls(op, main_dtype(op), 12):
        # Eager's own kernels do not all look at strides: weight norm's reads memory in order.
        assert_lowered_as_eager(op, call, relaid(call, layout))


@pytest.mark.parametrize("op", SAMPLED)
def test_a_lowering_leaves_its_arguments_as_they_are(op: str) -> None:
    for call in some_calls(op, main_dtype(op), 12):
        before = [t.clone() for t in tree_leaves(call.args) if isinstance(t, torch.Tensor)]
        LOWERINGS[op].function(*call.args, **call.kwargs)
        after = [t for t in tree_leaves(call.args) if isinstance(t, torch.Tensor)]
        for tensor, was in zip(after, before, strict=True):
            assert torch.equal(tensor, was) or tensor.isnan().any()


def test_a_name_is_that_of_an_op_and_of_no_other_lowering() -> None:
    assert all(overload_of(op) for op in LOWERINGS)
    assert len({lowering.name for lowering in LOWERINGS.values()}) == len(LOWERINGS)
    assert all(lowering.summary and lowering.source for lowering in LOWERINGS.values())


def test_the_table_is_read_without_torch() -> None:
    code = (
        "import sys\n"
        "from exporters.neuron.lowerings import LOWERINGS\n"
        "sys.exit('torch' in sys.modules or not LOWERINGS)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


IMAGE = torch.rand(1, 2, 4, 4)
ROW = torch.rand(4)
REFUSED = [
    pytest.param("_fft_c2c", (ROW.to(torch.complex32), [0], 0, True), id="halves"),
    pytest.param("_fft_r2c", (torch.rand(4099), [0], 0, True), id="a large prime"),
    pytest.param("_fft_c2r", (ROW.to(torch.complex64), [0], 0, 9), id="another size"),
    pytest.param("polar", (ROW.half(), ROW.half()), id="complex numbers of halves"),
    pytest.param("complex", (ROW.half(), ROW.half()), id="a complex number of halves"),
    pytest.param("angle", (ROW.to(torch.complex32),), id="an angle of halves"),
    pytest.param("upsample_bicubic2d", (IMAGE.byte(), [2, 2], False), id="bytes in fixed point"),
    pytest.param("_upsample_bilinear2d_aa", (IMAGE[:, :, :0], [2, 2], False), id="no pixel"),
    pytest.param("grid_sampler_2d", (IMAGE, IMAGE.double(), 0, 0, False), id="two dtypes"),
    pytest.param("_adaptive_avg_pool2d", (IMAGE.long(), [2, 2]), id="whole numbers"),
    pytest.param("im2col", (IMAGE, [5, 5], [1, 1], [0, 0], [1, 1]), id="a window too large"),
    pytest.param("unfold_copy", (ROW, 0, 0, 1), id="an empty window"),
    pytest.param("histc", (ROW.long(), 4), id="a histogram of whole numbers"),
    pytest.param("index_put", (ROW, [torch.tensor([1])], ROW[0]), id="numbers as index"),
    pytest.param("index_put", (IMAGE, [IMAGE[:, 0, 0, 0] > 0] * 2, ROW[0]), id="two masks"),
    pytest.param("scatter_reduce.two", (ROW[0], 0, ROW[0].long(), ROW[0], "sum"), id="a scalar"),
    pytest.param("unique_consecutive", (IMAGE, False, False, 1), id="rows"),
    pytest.param("unique_consecutive", (ROW[:0],), id="no element"),
]


@pytest.mark.parametrize(("name", "args"), REFUSED)
def test_a_lowering_refuses_what_it_is_not_right_for(name: str, args: tuple[Any, ...]) -> None:
    assert not LOWERINGS[f"aten::{name}"].covers(*args)


MASK = torch.tensor([[True, False, True], [False, False, True]])
EVALUATED = [
    pytest.param("nonzero", (MASK,), 3, id="nonzero"),
    pytest.param("masked_select", (torch.rand(2, 3), MASK), 3, id="masked_select"),
    pytest.param("unique_consecutive", (torch.tensor([4, 4, 2, 4]),), 3, id="unique_consecutive"),
    pytest.param("_unique2", (torch.tensor([4, 4, 2, 4]),), 2, id="_unique2"),
    pytest.param("repeat_interleave.Tensor", (torch.tensor([2, 0, 3]),), 5, id="repeats"),
    pytest.param("bincount", (torch.tensor([2, 0, 3]),), 3, id="bincount"),
]


@pytest.mark.parametrize(("name", "args", "value"), EVALUATED)
def test_nothing_but_a_size_is_evaluated(name: str, args: tuple[Any, ...], value: int) -> None:
    asked = []
    with evaluating(lambda tensor: asked.append(tensor) or tensor):  # type: ignore[func-returns-value]
        LOWERINGS[f"aten::{name}"].function(*args)
    (size,) = asked
    assert (size.dim(), int(size)) == (0, value)


UNASKED = [
    ("masked_scatter", (torch.rand(2, 3), MASK, torch.rand(3))),
    ("index_put", (torch.rand(2, 3), [MASK], torch.rand(3))),
    ("histc", (torch.rand(5), 4)),
    ("scatter_reduce.two", (torch.rand(4), 0, torch.tensor([0, 0, 3]), torch.rand(3), "amax")),
]


@pytest.mark.parametrize(("name", "args"), UNASKED)
def test_nothing_is_evaluated_where_the_shape_is_known(name: str, args: tuple[Any, ...]) -> None:
    def refuse(tensor: torch.Tensor) -> torch.Tensor:
        raise AssertionError(f"{name} asked for {tensor}")

    with evaluating(refuse):
        LOWERINGS[f"aten::{name}"].function(*args)


@pytest.mark.parametrize(("true", "found"), [(2, [[0], [2], [-1]]), (5, [[0], [2], [3]])])
def test_places_beyond_the_size_of_the_trace_are_cut_or_filled(
    true: int, found: list[list[int]]
) -> None:
    mask = torch.tensor([True, False, True, True, True, True]) & (torch.arange(6) <= true)
    places = LOWERINGS["aten::nonzero_static"].function(mask, size=3)
    assert places.tolist() == found


def test_masked_scatter_repeats_the_last_element_where_eager_refuses() -> None:
    mask, source = torch.ones(3, dtype=torch.bool), torch.tensor([4.0, 5.0])
    result = LOWERINGS["aten::masked_scatter"].function(torch.zeros(3), mask, source)
    assert result.tolist() == [4.0, 5.0, 5.0]


def test_a_pixel_that_is_not_finite_stays_where_it_is() -> None:
    """Weights of zero times infinity would spread it; an average has no such weights."""
    image = torch.zeros(1, 1, 7, 7)
    image[..., 3, 3] = torch.inf
    pooled = LOWERINGS["aten::_adaptive_avg_pool2d"].function(image, [3, 3])
    assert torch.equal(pooled, torch.nn.functional.adaptive_avg_pool2d(image, 3))


def test_fourier_transforms_are_as_exact_as_eager_at_a_thousand_points() -> None:
    """Against the definition in double precision; the angles are exact, so errors do not grow."""
    x = torch.randn(1009, dtype=torch.complex128, generator=torch.Generator().manual_seed(0))
    angles = torch.arange(1009.0).double().outer(torch.arange(1009.0).double())
    expected = torch.exp(-2j * torch.pi * angles / 1009) @ x
    found = LOWERINGS["aten::_fft_c2c"].function(x.to(torch.complex64), [0], 0, True)
    assert (found - expected).abs().max() / expected.abs().max() < 1e-6
