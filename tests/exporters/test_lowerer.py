"""How lowerings are applied: around the trace, on the terms of the guard, and gone afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from exporters.base import ExportOptions, Selection  # noqa: E402
from exporters.neuron import lazy, lowerer, xla  # noqa: E402
from exporters.neuron.errors import UnloweredOpError  # noqa: E402
from exporters.neuron.lowerings import Lowering, evaluate  # noqa: E402

J0 = "aten::special_bessel_j0"


def series(x: torch.Tensor) -> torch.Tensor:
    """Bessel's J0 for small arguments, written into views: the sum of (-x²/4)^k / (k!)²."""
    terms = torch.zeros(12, *x.shape, dtype=x.dtype, device=x.device)
    terms[0] = 1
    for k in range(1, 12):
        terms[k] = terms[k - 1] * (-x * x / 4) / k**2
    return terms.sum(0)


class Apply(torch.nn.Module):
    """Gives `op` of a parameter, of an input, and of both."""

    def __init__(self, op: Callable[..., Any]) -> None:
        super().__init__()
        self.op = op
        self.weight = torch.nn.Parameter(torch.rand(4))

    def forward(self, x: torch.Tensor) -> Any:
        return self.op(self.weight, x)


def export(op: Callable[..., Any], lowerings: str = "on", guard: bool = True) -> xla.XlaModel:
    options = ExportOptions(
        patches=Selection.parse("off"), lowerings=Selection.parse(lowerings), guard=guard
    )
    return xla.trace(Apply(op).eval(), {"x": torch.tensor([0.5, 1.0, 0.0, 2.0])}, options)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has these lowerings and no others."""

    def know(*lowerings: Lowering) -> None:
        monkeypatch.setattr(lowerer, "LOWERINGS", {one.op: one for one in lowerings})

    return know


def lowering(function: Callable[..., Any] = series, op: str = J0, **values: Any) -> Lowering:
    return Lowering(op, function, "In other words.", "this test", **values)


def j0_of_both(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.special.bessel_j0(weight * x)


@pytest.mark.parametrize("guard", [True, False], ids=["guarded", "unguarded"])
def test_an_op_on_an_activation_is_lowered(known: Callable[..., None], guard: bool) -> None:
    known(lowering())
    exported = export(j0_of_both, guard=guard)
    assert (exported.lowerings, exported.baked_reads) == (("special_bessel_j0",), ())
    x = torch.tensor([0.1, 0.7, 1.5, 0.3])
    torch.testing.assert_close(exported({"x": x}), j0_of_both(exported.weights["weight"], x))


def test_an_op_on_an_input_is_lowered_and_not_baked(known: Callable[..., None]) -> None:
    known(lowering())
    exported = export(lambda weight, x: torch.special.bessel_j0(x))
    assert exported.baked_reads == ()
    x = torch.tensor([0.1, 0.7, 1.5, 0.3])
    torch.testing.assert_close(exported({"x": x}), torch.special.bessel_j0(x))


def test_folding_goes_before_lowering(known: Callable[..., None]) -> None:
    known(lowering())
    exported = export(lambda weight, x: torch.special.bessel_j0(weight) + x)
    assert exported.lowerings == ("fold:special_bessel_j0",)


@pytest.mark.parametrize(
    ("chosen", "covers"),
    [("off", True), ("fold,read", True), ("on", False)],
)
def test_what_is_not_chosen_or_not_covered_is_refused(
    known: Callable[..., None], chosen: str, covers: bool
) -> None:
    known(lowering(covers=lambda x: covers))
    with pytest.raises(UnloweredOpError) as error:
        export(j0_of_both, chosen)
    assert error.value.op == J0


def twice(x: torch.Tensor) -> torch.Tensor:
    """J1 by way of J0, which has no lowering of torch_xla's either: J1 = -J0'."""
    step = 1e-3
    return (torch.special.bessel_j0(x - step) - torch.special.bessel_j0(x + step)) / (2 * step)


def test_a_lowering_may_use_ops_that_are_lowered(known: Callable[..., None]) -> None:
    known(lowering(), lowering(twice, "aten::special_bessel_j1"))
    exported = export(lambda weight, x: torch.special.bessel_j1(weight * x))
    assert exported.lowerings == ("special_bessel_j0", "special_bessel_j1")
    x = torch.tensor([0.1, 0.7, 1.5, 0.3])
    want = torch.special.bessel_j1(exported.weights["weight"] * x)
    torch.testing.assert_close(exported({"x": x}), want, atol=1e-3, rtol=1e-3)


def test_what_a_kernel_does_wrong_is_replaced(known: Callable[..., None]) -> None:
    known(lowering(lambda x: x * 2, "aten::sin", replaces=True))
    assert export(lambda weight, x: x.sin())({"x": torch.ones(4)}).tolist() == [2.0] * 4


def test_a_kernel_that_is_right_is_kept(known: Callable[..., None]) -> None:
    known(lowering(lambda x: x * 2, "aten::sin"))
    exported = export(lambda weight, x: x.sin())
    assert exported.lowerings == ()
    torch.testing.assert_close(exported({"x": torch.ones(4)}), torch.ones(4).sin())


def first_positive(x: torch.Tensor) -> torch.Tensor:
    return x[: int(evaluate((x > 0).sum()))]


def test_what_a_lowering_evaluates_is_a_baked_read(known: Callable[..., None]) -> None:
    known(lowering(first_positive))
    exported = export(j0_of_both)
    (read,) = exported.baked_reads
    assert (read.op, read.operands) == (J0, ("x",))
    assert read.source is not None
    assert read.source.startswith("test_lowerer.py:")
    assert exported({"x": torch.ones(4)}).shape == (3,)


def test_outside_of_a_trace_a_value_is_simply_read() -> None:
    assert first_positive(torch.tensor([1.0, 0.0, 3.0])).tolist() == [1.0, 0.0]


OPS = [J0, "aten::nonzero", "aten::_local_scalar_dense", "aten::_to_copy", "aten::im2col"]


def kernels() -> list[str]:
    """What the dispatcher runs for each op on each device."""
    dump: Any = vars(torch._C)["_dispatch_dump_table"]
    return [dump(op) for op in OPS]


def failing(x: torch.Tensor) -> torch.Tensor:
    raise ArithmeticError("of the lowering")


@pytest.mark.parametrize("function", [series, failing])
def test_nothing_is_left_after_a_trace(
    known: Callable[..., None], function: Callable[..., Any]
) -> None:
    def op(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        chosen = weight[x > 0]
        return j0_of_both(weight, x) + chosen.sum() * x.sum().item()

    known(lowering(function))
    before = kernels()
    try:
        export(op)
    except ArithmeticError:
        assert function is failing
    assert kernels() == before
    fallbacks = lazy.read_counters().get(J0, 0)
    torch.special.bessel_j0(torch.ones(2, device=lazy.device()))
    assert lazy.read_counters()[J0] == fallbacks + 1


def test_places_move_and_their_number_is_fixed() -> None:
    exported = export(lambda weight, x: (weight * 2)[x > 0.75])
    (read,) = exported.baked_reads
    assert (read.op, read.operands) == ("aten::nonzero", ("x",))
    weight = exported.weights["weight"]
    for x in (torch.tensor([1.0, 0.0, 0.0, 1.0]), torch.tensor([0.0, 1.0, 1.0, 0.0])):
        assert torch.equal(exported({"x": x}), (weight * 2)[x > 0.75])


def test_what_is_read_stays_in_the_graph() -> None:
    def op(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        return y + y.cpu().shape[0] + int(y.sum() > -1)

    x = torch.tensor([3.0, 1.0, 2.0, 7.0])
    assert torch.equal(export(op)({"x": x}), x * 2 + 5)


def test_a_comparison_of_two_tensors_that_agree_is_a_baked_read() -> None:
    exported = export(lambda weight, x: x + 1 if torch.equal(x, x.relu()) else x)
    (read,) = exported.baked_reads
    assert (read.op, read.operands) == ("aten::equal", ("x",))
    assert exported({"x": torch.ones(4)}).tolist() == [2.0] * 4


def test_a_value_after_an_op_of_torch_xla_alone_is_read() -> None:
    def op(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        pooled = torch.nn.functional.max_pool2d((weight * x)[None, None, None], (1, 2))
        return x * int((pooled.exp() >= 1).sum())

    x = torch.tensor([0.5, 1.0, 0.0, 2.0])
    exported = export(op)
    assert [read.operands for read in exported.baked_reads] == [("x",)]
    assert torch.equal(exported({"x": x}), x * 2)


def test_a_value_that_cannot_be_known_is_refused(known: Callable[..., None]) -> None:
    known(lowering(first_positive))
    with pytest.raises(UnloweredOpError) as error:
        export(lambda weight, x: torch.special.bessel_j0(torch.rand_like(x) * weight * x))
    assert error.value.op == J0


USERS = {
    "index_select": lambda x, places: x.index_select(0, places),
    "embedding": lambda x, places: torch.nn.functional.embedding(places, x[:, None]),
    "index_add": lambda x, places: x.index_add(0, places, x),
    "index_copy": lambda x, places: x.index_copy(0, places, x),
    "index_fill": lambda x, places: x.index_fill(0, places[:2], 7.0),
}


@pytest.mark.parametrize("user", USERS.values(), ids=USERS)
@pytest.mark.parametrize("order", [torch.argsort, lambda x: x.topk(4)[1], lambda x: x.sort()[1]])
def test_an_order_may_be_an_index(order: Callable[..., Any], user: Callable[..., Any]) -> None:
    """Without, these end the process, whatever the operand is."""
    exported = export(lambda weight, x: user(x, order(x)))
    x = torch.tensor([3.0, 1.0, 2.0, 7.0])
    torch.testing.assert_close(exported({"x": x}), user(x, order(x)))
