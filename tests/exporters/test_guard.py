"""The guard: reads of placeholders become errors that name everything, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
torch_xla = pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from exporters.neuron import lazy  # noqa: E402
from exporters.neuron.errors import UnloweredOpError  # noqa: E402
from exporters.neuron.graph import TracedGraph, trace  # noqa: E402
from exporters.tree import tensor_leaves  # noqa: E402


class Apply(torch.nn.Module):
    """Runs `op` on a parameter, a buffer, an input, or on what derives from them."""

    def __init__(self, op: Callable[[Any], Any], operand: str, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.op, self.operand = op, operand
        self.parameter = torch.nn.Parameter(torch.rand(shape))
        self.register_buffer("buffer", torch.rand(shape))

    def forward(self, x: torch.Tensor) -> Any:
        operand = {
            "parameter": self.parameter,
            "buffer": self.buffer,
            "input": x,
            "input x weight": x * self.parameter,
        }[self.operand]
        return self.op(operand), x + 1


def guarded(op: Callable[[Any], Any], operand: str, shape: tuple[int, ...] = (4,)) -> TracedGraph:
    return trace(Apply(op, operand, shape).eval(), {"x": torch.rand(shape)}, guarded=True)


def weight_norm(v: torch.Tensor) -> torch.Tensor:
    return torch._weight_norm(v, v[:1, :1, :1], 0)


def bicubic(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.interpolate(x, size=(5, 5), mode="bicubic")


def im2col(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.unfold(x, kernel_size=(2, 2))


IMAGE = (1, 2, 4, 4)
READERS = [
    pytest.param(bicubic, "aten::upsample_bicubic2d", IMAGE, id="bicubic"),
    pytest.param(im2col, "aten::im2col", IMAGE, id="im2col"),
    # Ops that have an XLA kernel, which reads the device or falls back itself.
    pytest.param(torch.nonzero, "aten::nonzero", (4,), id="nonzero"),
    pytest.param(lambda x: x.sum().item(), "aten::_local_scalar_dense", (4,), id="item"),
    pytest.param(lambda x: x.cpu(), "aten::_to_copy", (4,), id="to cpu"),
    pytest.param(
        lambda x: torch.nn.functional.adaptive_avg_pool2d(x, 3),
        "aten::_adaptive_avg_pool2d",
        IMAGE,
        id="adaptive pooling",
    ),
    pytest.param(lambda x: torch.fft.fft(x), "aten::_fft_r2c", (4,), id="fft"),
    pytest.param(lambda x: torch.histc(x, 4, 0, 1), "aten::histc", (4,), id="histc"),
    pytest.param(lambda x: x[x > 0.5], "aten::nonzero", (4,), id="boolean index"),
    # torch.tensor reads beneath the dispatch modes.
    pytest.param(
        lambda x: torch.tensor([x.sum(), 1.0], device=x.device),
        "aten::_local_scalar_dense",
        (4,),
        id="list of tensors",
    ),
    pytest.param(repr, "aten::_to_copy", (4,), id="print"),
    pytest.param(lambda x: x.tolist(), "aten::_to_copy", (4,), id="tolist"),
    pytest.param(lambda x: x.numpy(force=True), "aten::_to_copy", (4,), id="numpy"),
    # Random ops: no kernel, kernels that fall back themselves, and wrappers of such ops.
    pytest.param(torch.poisson, "aten::poisson", (4,), id="poisson"),
    pytest.param(lambda x: torch.multinomial(x, 2), "aten::multinomial", (4,), id="multinomial"),
    pytest.param(lambda x: x.clone().cauchy_(), "aten::cauchy_", (4,), id="cauchy"),
    pytest.param(
        lambda x: torch.bernoulli(x, generator=torch.Generator()),
        "aten::bernoulli",
        (4,),
        id="bernoulli with a generator",
    ),
]


@pytest.mark.parametrize("operand", ["parameter", "buffer", "input x weight"])
@pytest.mark.parametrize(("op", "name", "shape"), READERS)
def test_a_read_of_a_placeholder_is_named(
    op: Callable[[Any], Any], name: str, shape: tuple[int, ...], operand: str
) -> None:
    with pytest.raises(UnloweredOpError) as error:
        guarded(op, operand, shape)
    origin = "buffer buffer" if operand == "buffer" else "parameter parameter"
    assert error.value.op == name
    assert origin in error.value.operand
    assert error.value.source is not None
    assert error.value.source.startswith("test_guard.py:")
    assert error.value.module == "Apply"


@pytest.mark.parametrize(("op", "name", "shape"), READERS)
def test_a_read_of_an_input_is_recorded_and_passes(
    op: Callable[[Any], Any], name: str, shape: tuple[int, ...]
) -> None:
    (read,) = guarded(op, "input", shape).seen.baked_reads
    assert (read.op, read.operands) == (name, ("x",))
    assert read.source is not None
    assert read.source.startswith("test_guard.py:")


def test_operands_are_described_by_shape_dtype_and_origin() -> None:
    with pytest.raises(UnloweredOpError) as error:
        guarded(bicubic, "parameter", IMAGE)
    assert error.value.operand == "parameter parameter (1, 2, 4, 4) float32"
    with pytest.raises(UnloweredOpError) as error:
        guarded(bicubic, "input x weight", IMAGE)
    assert error.value.operand.startswith("(1, 2, 4, 4) float32 derived from ")
    assert "input x" in error.value.operand


def test_weight_norm_is_named_with_both_parameters() -> None:
    with pytest.raises(UnloweredOpError) as error:
        guarded(weight_norm, "parameter", (4, 2, 3))
    assert error.value.op == "aten::_weight_norm_interface"


class MaskedRows(torch.nn.Module):
    """``nonzero`` reads the mask alone, whatever the indexed tensor derives from."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(4, 3))

    def forward(self, mask: torch.Tensor) -> torch.Tensor:
        return self.weight[mask]


def test_a_mask_made_of_inputs_may_index_a_parameter() -> None:
    mask = torch.tensor([True, False, True, False])
    graph = trace(MaskedRows().eval(), {"mask": mask}, guarded=True)
    assert graph.output.shape == (2, 3)
    (read,) = graph.seen.baked_reads
    assert (read.op, read.operands) == ("aten::nonzero", ("mask",))
    unguarded = trace(MaskedRows().eval(), {"mask": mask}, guarded=False)
    assert lazy.program_of([graph.output]) == lazy.program_of([unguarded.output])


class Filled(torch.nn.Module):
    """The op that fills reads its value alone, whatever the filled tensor derives from."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self.weight).fill_(x.sum())


def test_a_value_made_of_inputs_may_fill_what_derives_from_a_parameter() -> None:
    (read,) = trace(Filled().eval(), {"x": torch.ones(3)}, guarded=True).seen.baked_reads
    assert (read.op, read.operands) == ("aten::_local_scalar_dense", ("x",))


def test_scalars_are_read_as_before_once_the_guard_is_off() -> None:
    trace(Filled().eval(), {"x": torch.ones(3)}, guarded=True)
    before = lazy.read_counters().get("aten::_local_scalar_dense", 0)
    assert torch.ones(3, device=lazy.device()).sum().item() == 3.0
    assert lazy.read_counters()["aten::_local_scalar_dense"] == before + 1


class ReadTwice(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.nonzero(x)
        return x * places[0].sum().item()


def test_what_was_read_from_an_input_still_derives_from_it() -> None:
    reads = trace(ReadTwice().eval(), {"x": torch.ones(3)}, guarded=True).seen.baked_reads
    assert [read.op for read in reads] == ["aten::nonzero", "aten::_local_scalar_dense"]
    assert {read.operands for read in reads} == {("x",)}


class ReadsConstant(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.arange(4, device=x.device).max().item()


def test_a_read_of_a_constant_is_no_baked_read() -> None:
    assert trace(ReadsConstant().eval(), {"x": torch.ones(3)}, guarded=True).seen.baked_reads == ()


class Noise(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        noise = torch.rand_like(x)
        views = torch.zeros(3, 2, device=x.device)
        views[:, 1:] = 1
        return x + noise + views.sum() + torch.randn_like(x) + x.new_ones(3)[None].expand(1, 3)


class ViewsOfFactories(torch.nn.Module):
    """Views of a new tensor that are used more than once, as rotary embeddings' positions are."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        total = x
        for new in (torch.arange(3, device=x.device), torch.ones(3, device=x.device)):
            view = new.unsqueeze(0)
            total = total + view[:, None, :].float() * x + view[:, None, :].float()
        return total


@pytest.mark.parametrize("model", [Noise, ViewsOfFactories])
def test_the_guard_leaves_the_graph_as_it_is(model: type[torch.nn.Module]) -> None:
    texts = set()
    for guard in (False, True):
        torch_xla.manual_seed(0)
        graph = trace(model().eval(), {"x": torch.ones(3)}, guarded=guard)
        texts.add(lazy.program_of(list(tensor_leaves({"y": graph.output}).values())))
    assert len(texts) == 1


def test_the_guard_leaves_random_numbers_as_they_are() -> None:
    before = torch.random.get_rng_state()
    trace(Noise().eval(), {"x": torch.ones(3)}, guarded=True)
    assert torch.equal(before, torch.random.get_rng_state())


class WritesToHost(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.host = [torch.tensor([1.0, 2.0])]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.host[0].to(x.device)


def test_probes_do_not_touch_tensors_outside_the_trace() -> None:
    model = WritesToHost().eval()
    trace(model, {"x": torch.ones(2)}, guarded=True)
    assert torch.equal(model.host[0], torch.tensor([1.0, 2.0]))


def test_the_name_of_a_submodule_is_given() -> None:
    model = torch.nn.Sequential(torch.nn.Identity(), Apply(bicubic, "parameter", IMAGE)).eval()
    with pytest.raises(UnloweredOpError) as error:
        trace_positional(model, torch.rand(IMAGE))
    assert error.value.module == "1"
    assert error.value.operand.startswith("parameter 1.parameter")


def trace_positional(model: torch.nn.Module, x: torch.Tensor) -> TracedGraph:
    return trace(model, {"input": x}, guarded=True)


class Swallows(torch.nn.Module):
    """Has another way where an op is not supported."""

    def __init__(self) -> None:
        super().__init__()
        self.image = torch.nn.Parameter(torch.rand(IMAGE))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            return bicubic(self.image) + x.sum()
        except Exception:
            return x.sum()


def test_a_refusal_that_the_model_swallows_is_raised_at_its_end() -> None:
    with pytest.raises(UnloweredOpError) as error:
        trace(Swallows().eval(), {"x": torch.rand(3)}, guarded=True)
    assert error.value.op == "aten::upsample_bicubic2d"


@torch.jit.script
def scripted(x: torch.Tensor) -> torch.Tensor:
    if bool(x.sum() > 0):
        return x
    return -x


def test_a_refusal_in_torchscript_keeps_what_it_knows() -> None:
    with pytest.raises(UnloweredOpError) as error:
        guarded(scripted, "parameter")
    assert error.value.op == "aten::_local_scalar_dense"
    assert "parameter parameter" in error.value.operand
