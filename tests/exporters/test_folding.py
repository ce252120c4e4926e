"""Constant folding: what derives from weights alone is eager's own value, for any weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from exporters.base import ExportOptions, Selection, WeightsInlinedError  # noqa: E402
from exporters.neuron import xla  # noqa: E402
from exporters.neuron.errors import UnknownLoweringError, UnloweredOpError  # noqa: E402
from exporters.tree import tensor_leaves  # noqa: E402

IMAGE = (1, 2, 4, 4)


class Apply(torch.nn.Module):
    """Gives `op` of a parameter, a boolean buffer and an input."""

    def __init__(self, op: Callable[..., Any]) -> None:
        super().__init__()
        self.op = op
        self.weight = torch.nn.Parameter(torch.rand(IMAGE))
        self.register_buffer("chosen", torch.tensor([True, False, True, False]))
        self.register_buffer("count", torch.tensor(3))

    def forward(self, x: torch.Tensor) -> Any:
        return self.op(self, x)


def export(model: torch.nn.Module, lowerings: str = "fold", guard: bool = True) -> xla.XlaModel:
    options = ExportOptions(
        patches=Selection.parse("off"), lowerings=Selection.parse(lowerings), guard=guard
    )
    return xla.trace(model.eval(), {"x": torch.rand(IMAGE)}, options)


def weight_norm(m: Apply, x: torch.Tensor) -> Any:
    return torch._weight_norm_interface(m.weight, m.weight[:, :1, :1, :1], 0)


def bicubic(m: Apply, x: torch.Tensor) -> Any:
    return torch.nn.functional.interpolate(m.weight.sin(), size=(7, 5), mode="bicubic")


def in_place(m: Apply, x: torch.Tensor) -> Any:
    y = m.weight * 2
    y[..., 1:] = torch.special.bessel_j0(y[..., 1:])
    return y.lgamma_()


def masked_rows(m: Apply, x: torch.Tensor) -> Any:
    return m.weight[:, :, m.chosen]


def copy_to_host(m: Apply, x: torch.Tensor) -> Any:
    host = m.weight.cos().cpu()
    host.add_(1)
    return host.to(x.device)


def copy_into_host(m: Apply, x: torch.Tensor) -> Any:
    host = torch.zeros(IMAGE)
    host.copy_(m.weight)
    return host.to(x.device)


def several(m: Apply, x: torch.Tensor) -> Any:
    return torch.unique((m.weight * 4).round(), return_inverse=True, return_counts=True)


FOLDS = [
    pytest.param(weight_norm, ["_weight_norm_interface"], id="weight norm"),
    pytest.param(bicubic, ["upsample_bicubic2d"], id="bicubic"),
    pytest.param(in_place, ["special_bessel_j0", "lgamma"], id="in place"),
    pytest.param(masked_rows, ["index.Tensor"], id="boolean index"),
    pytest.param(copy_to_host, ["_to_copy"], id="cpu"),
    pytest.param(copy_into_host, ["copy_"], id="copy_"),
    pytest.param(several, ["_unique2"], id="several results"),
    pytest.param(lambda m, x: torch.fft.fft(m.weight).real, ["_fft_r2c"], id="fft"),
    pytest.param(lambda m, x: x[..., : m.count.item()], ["_local_scalar_dense"], id="item"),
    pytest.param(lambda m, x: x * m.weight.flatten().tolist()[1], ["_to_copy"], id="tolist"),
    pytest.param(
        lambda m, x: torch.tensor([m.count, 1], device=x.device),
        ["_local_scalar_dense"],
        id="list of tensors",
    ),
]


@pytest.mark.parametrize("guard", [True, False], ids=["guarded", "unguarded"])
@pytest.mark.parametrize(("op", "names"), FOLDS)
def test_what_is_folded_is_what_eager_gives(
    op: Callable[..., Any], names: list[str], guard: bool
) -> None:
    model, x = Apply(op), torch.rand(IMAGE)
    exported = export(model, guard=guard)
    assert exported.lowerings == tuple(f"fold:{name}" for name in names)
    assert exported.baked_reads == ()
    want = tensor_leaves(model(x))
    for path, leaf in tensor_leaves(exported({"x": x})).items():
        assert torch.equal(leaf, want[path])


@pytest.mark.parametrize(
    ("op", "names"), [param for param in FOLDS if param.id in ("weight norm", "bicubic", "fft")]
)
def test_what_is_folded_follows_other_weights(op: Callable[..., Any], names: list[str]) -> None:
    model, other, x = Apply(op), Apply(op), torch.rand(IMAGE)
    exported = export(model)
    rebound = exported.with_weights(other)
    assert rebound.program is exported.program
    for bound, own in ((rebound, other), (exported, model)):
        want = tensor_leaves(own(x))
        for path, leaf in tensor_leaves(bound({"x": x})).items():
            assert torch.equal(leaf, want[path])


def test_weights_of_which_the_model_reads_other_values_are_refused() -> None:
    def op(m: Apply, x: torch.Tensor) -> Any:
        return x[..., : m.count.item()]

    model, same, other = Apply(op), Apply(op), Apply(op)
    other.count.fill_(2)
    exported = export(model)
    x = torch.rand(IMAGE)
    assert exported.with_weights(same)({"x": x}).shape[-1] == 3
    with pytest.raises(WeightsInlinedError, match="takes another value"):
        exported.with_weights(other)


def test_weights_of_which_the_model_copies_other_values_to_the_host_are_refused() -> None:
    model, other = Apply(copy_into_host), Apply(copy_into_host)
    exported, x = export(model), torch.rand(IMAGE)
    with pytest.raises(WeightsInlinedError, match="takes another value"):
        exported.with_weights(other)
    assert torch.equal(exported.with_weights(model)({"x": x}), model(x))


def test_weights_that_give_a_folded_tensor_another_shape_are_refused() -> None:
    model, other = Apply(masked_rows), Apply(masked_rows)
    other.chosen.fill_(True)
    with pytest.raises(WeightsInlinedError):
        export(model).with_weights(other)


def test_a_value_that_thousands_of_ops_lead_to_is_folded() -> None:
    def op(m: Apply, x: torch.Tensor) -> Any:
        value = m.weight
        for _ in range(3000):
            value = value + 0.5
        return torch.special.bessel_j0(value)

    model, x = Apply(op), torch.rand(IMAGE)
    assert torch.equal(export(model)({"x": x}), model(x))


def test_what_is_folded_is_folded_again() -> None:
    def op(m: Apply, x: torch.Tensor) -> Any:
        return torch.special.bessel_j0(torch.special.bessel_j0(m.weight) + 1)

    model, other, x = Apply(op), Apply(op), torch.rand(IMAGE)
    exported = export(model)
    assert torch.equal(exported({"x": x}), model(x))
    assert torch.equal(exported.with_weights(other)({"x": x}), other(x))


def test_what_an_input_has_a_part_in_is_not_folded() -> None:
    with pytest.raises(UnloweredOpError) as error:
        export(Apply(lambda m, x: torch.special.bessel_j0(m.weight * x)), "on")
    assert error.value.op == "aten::special_bessel_j0"


def test_random_numbers_are_not_folded() -> None:
    with pytest.raises(UnloweredOpError):
        export(Apply(lambda m, x: torch.poisson(m.weight)), "on")


@pytest.mark.parametrize("lowerings", ["off", "grid_sampler_2d"])
def test_folding_can_be_left_out(lowerings: str) -> None:
    with pytest.raises(UnloweredOpError):
        export(Apply(bicubic), lowerings)


def test_an_unknown_lowering_is_told() -> None:
    with pytest.raises(UnknownLoweringError, match="called bicubc; there are: fold"):
        export(Apply(bicubic), "bicubc")


def test_the_model_may_write_into_what_it_reads() -> None:
    def op(m: Apply, x: torch.Tensor) -> Any:
        m.weight.cpu().zero_()
        return m.weight.cpu().to(x.device) + x * 0

    model, x = Apply(op), torch.rand(IMAGE)
    before = model.weight.detach().clone()
    assert torch.equal(export(model)({"x": x}), before)
    assert torch.equal(model.weight, before)
