"""Runtime ``xla``: the traced program computes what the model does, on any weights and inputs."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from exporters.base import ExportOptions, Selection  # noqa: E402
from exporters.flat import InputMismatchError  # noqa: E402
from exporters.neuron import lazy, xla  # noqa: E402
from exporters.tree import leaves, tensor_leaves  # noqa: E402

OPTIONS = ExportOptions(patches=Selection(everything=False))


def export(model: torch.nn.Module, inputs: dict[str, Any]) -> xla.XlaModel:
    return xla.trace(model.eval(), inputs, OPTIONS)


def assert_same(exported: Any, eager: Any) -> None:
    got, want = leaves(exported), leaves(eager)
    assert list(got) == list(want)
    for path, leaf in want.items():
        if isinstance(leaf, torch.Tensor):
            torch.testing.assert_close(got[path], leaf, msg=lambda m, path=path: f"{path}: {m}")
        else:
            assert got[path] == leaf


class Linear(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) + self.shift


def test_runs_on_inputs_other_than_those_of_the_trace() -> None:
    model = Linear()
    exported = export(model, {"x": torch.ones(2, 3)})
    fresh = torch.randn(2, 3)
    assert_same(exported({"x": fresh}), model(fresh))


def test_runs_with_other_weights_without_a_new_trace() -> None:
    model, other = Linear(), Linear()
    other.shift.fill_(5.0)
    exported = export(model, {"x": torch.ones(2, 3)})
    rebound = exported.with_weights(other)
    x = torch.randn(2, 3)
    assert rebound.program is exported.program
    assert_same(rebound({"x": x}), other(x))
    assert_same(exported({"x": x}), model(x))


class ReadsInput(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * x.sum().item()


def test_what_is_known_of_the_trace_holds_with_other_weights() -> None:
    exported = export(ReadsInput(), {"x": torch.ones(2)})
    assert len(exported.baked_reads) == 1
    assert exported.with_weights(ReadsInput()).baked_reads == exported.baked_reads


def test_keeps_its_weights_when_the_model_changes_after_the_first_run() -> None:
    model, x = Linear(), torch.randn(2, 3)
    exported = export(model, {"x": x})
    before = exported({"x": x})
    with torch.no_grad():
        model.linear.weight.zero_()
    assert_same(exported({"x": x}), before)


class Tied(torch.nn.Module):
    """One module under two paths, and one parameter in two modules."""

    def __init__(self) -> None:
        super().__init__()
        self.shared = torch.nn.Embedding(5, 4)
        self.encoder = torch.nn.ModuleDict({"embed": self.shared})
        self.head = torch.nn.Linear(4, 5, bias=False)
        self.head.weight = self.shared.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.shared(ids) + self.encoder["embed"](ids))


def test_tied_weights_are_one_argument_of_the_program() -> None:
    exported = export(Tied(), {"ids": torch.tensor([[1, 2]])})
    weights = [
        source
        for source in exported.program.arguments
        if getattr(source, "kind", "") == "parameter"
    ]
    assert [origin.name for origin in weights] == ["shared.weight"]


@pytest.mark.parametrize("model", [Linear(), Tied()], ids=["linear", "tied"])
def test_the_model_is_left_as_it_was(model: torch.nn.Module) -> None:
    before = {name: (id(p), p.clone()) for name, p in model.state_dict(keep_vars=True).items()}
    inputs = {"x": torch.ones(2, 3)} if isinstance(model, Linear) else {"ids": torch.tensor([[1]])}
    export(model, inputs)
    after = model.state_dict(keep_vars=True)
    assert {name: id(p) for name, p in after.items()} == {n: i for n, (i, _) in before.items()}
    for name, (_, value) in before.items():
        assert torch.equal(after[name], value)


def test_both_ways_to_run_the_program_agree() -> None:
    exported = export(Linear(), {"x": torch.ones(2, 3)})
    given = {"x": torch.randn(2, 3)}
    arguments = [exported._value_of(s, given) for s in exported.program.arguments]
    compiled = lazy.run_compiled(exported.program.key, arguments)
    direct = lazy.run_stablehlo(exported.program.stablehlo, arguments)
    assert len(compiled) == len(direct) == 1
    torch.testing.assert_close(compiled[0].cpu(), direct[0].cpu())


@dataclasses.dataclass
class Record:
    value: torch.Tensor
    nothing: None = None


class Structures(torch.nn.Module):
    """Every kind of leaf: nested, None, numbers, inputs, views, constants, weights, twice."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(2, 3))

    def forward(self, x: torch.Tensor, flag: bool = True) -> Any:
        y = x * self.weight
        return (
            y,
            None,
            {"a": y + 1, "b": [y.sum(), 3, "text"]},
            Record(y - 1),
            (),
            x,
            x.view(-1),
            x.detach(),
            torch.zeros(2, device=x.device),
            torch.tensor([1.0, 2.0], device=x.device),
            torch.tensor([7]),
            self.weight,
            y if flag else x,
            x[0],
        )


def test_every_kind_of_output_leaf_survives() -> None:
    model, x = Structures(), torch.randn(2, 3)
    exported = export(model, {"x": torch.ones(2, 3), "flag": True})
    result = exported({"x": x, "flag": True})
    assert_same(result, model(x))
    assert isinstance(result[3], Record)
    assert all(leaf.device.type == "cpu" for leaf in tensor_leaves(result).values())


class PassThrough(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x, x.detach()


def test_a_program_that_computes_nothing_returns_its_inputs() -> None:
    exported = export(PassThrough(), {"x": torch.zeros(2)})
    x = torch.tensor([3.0, 4.0])
    assert_same(exported({"x": x}), (x, x))


class InPlace(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = torch.zeros(2, 3, device=x.device)
        z[:, 1:] = x[:, 1:]
        z.view(-1)[0] += 1
        return z.add_(1)


@pytest.mark.parametrize("guard", [False, True], ids=["unguarded", "guarded"])
def test_writes_into_views_of_new_tensors_are_kept(guard: bool) -> None:
    options = ExportOptions(patches=Selection(everything=False), guard=guard)
    exported = xla.trace(InPlace().eval(), {"x": torch.ones(2, 3)}, options)
    x = torch.randn(2, 3)
    assert_same(exported({"x": x}), InPlace()(x))


def test_a_caller_may_write_into_a_constant_that_was_returned() -> None:
    class Counting(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"y": x * 2, "positions": torch.arange(3)}

    inputs = {"x": torch.ones(3)}
    exported = export(Counting().eval(), inputs)
    exported(inputs)["positions"].zero_()
    assert exported(inputs)["positions"].tolist() == [0, 1, 2]


class Mutates(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.add_(1) * 2


def test_inputs_are_not_changed() -> None:
    x = torch.ones(2)
    exported = export(Mutates(), {"x": x})
    result = exported({"x": x})
    assert torch.equal(x, torch.ones(2))
    assert torch.equal(result, torch.full((2,), 4.0))


class Views(torch.nn.Module):
    """B11: three ways to change a tensor of which a view was taken before."""

    def __init__(self, change: str) -> None:
        super().__init__()
        self.change = change

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        z = x * 1
        y = z.view(2, 5)
        if self.change == "add_":
            z.add_(1)
        elif self.change == "data +=":
            z.data += 1
        else:
            z.data = z.data + 1
        return y, z


@pytest.mark.parametrize(("change", "total"), [("add_", 10.0), ("data +=", 10.0), ("data =", 0.0)])
def test_b11_a_view_follows_what_is_changed_in_place_alone(change: str, total: float) -> None:
    exported = export(Views(change), {"x": torch.zeros(10)})
    y, z = exported({"x": torch.zeros(10)})
    assert (y.sum().item(), z.sum().item()) == (total, 10.0)


def test_caches_go_in_and_come_out() -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        vocab_size=20,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    with torch.no_grad():
        past = model(torch.tensor([[3, 4, 5]])).past_key_values
        inputs = {"input_ids": torch.tensor([[6]]), "past_key_values": past}
        exported = export(model, copy.deepcopy(inputs))
        eager = model(**copy.deepcopy(inputs))
    result = exported(copy.deepcopy(inputs))
    assert result.past_key_values.get_seq_length() == 4
    assert_same(result, eager)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"x": torch.ones(3, 3)}, r"input x is float32\[3, 3\], traced as float32\[2, 3\]"),
        ({"x": torch.ones(2, 3).double()}, "input x is float64"),
        ({"x": torch.ones(2, 3), "y": torch.ones(1)}, "not in the trace: y"),
        ({}, "missing: x"),
    ],
)
def test_inputs_that_were_not_traced_are_named(inputs: dict[str, Any], message: str) -> None:
    exported = export(Linear(), {"x": torch.ones(2, 3)})
    with pytest.raises(InputMismatchError, match=message):
        exported(inputs)


def test_a_flag_is_a_constant_of_the_program() -> None:
    exported = export(Structures(), {"x": torch.ones(2, 3), "flag": True})
    with pytest.raises(
        InputMismatchError, match="flag is False, and the trace has fixed it as True"
    ):
        exported({"x": torch.ones(2, 3), "flag": False})


def test_a_dynamic_batch_runs_at_any_size() -> None:
    model = Linear()
    exported = xla.trace(
        model, {"x": torch.ones(2, 3)}, dataclasses.replace(OPTIONS, dynamic=True)
    )
    for batch in (1, 2, 4, 5):
        x = torch.randn(batch, 3)
        assert_same(exported({"x": x}), model(x))


class TwoInputs(torch.nn.Module):
    """B12 and B23: two inputs of one shape, bound by name."""

    def forward(self, x: torch.Tensor, middle: Any = None, y: torch.Tensor | None = None) -> Any:
        return torch.sin(x) + 2 * torch.cos(y)


def test_b23_keyword_inputs_are_bound_by_name_in_any_order() -> None:
    exported = export(TwoInputs(), {"y": torch.zeros(4), "x": torch.ones(4)})
    x, y = torch.randn(4), torch.randn(4)
    want = TwoInputs()(x=x, y=y)
    assert_same(exported({"x": x, "y": y}), want)
    assert_same(exported({"y": y, "x": x}), want)


class Scales(torch.nn.Module):
    def forward(self, x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
        return x * factor


@pytest.mark.parametrize("traced", [0.0, 1.0, 7.25])
def test_a_scalar_input_is_no_constant_whatever_its_value(traced: float) -> None:
    exported = export(Scales(), {"x": torch.ones(2), "factor": torch.tensor(traced)})
    result = exported({"x": torch.ones(2), "factor": torch.tensor(3.0)})
    assert result.tolist() == [3.0, 3.0]


class Copies(torch.nn.Module):
    """Outputs that are whole copies: of an input, of a weight, into an input."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(2, 3))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        z = torch.zeros(2, 3, device=x.device)
        z[:] = x
        return torch.empty_like(x).copy_(x), z, torch.empty_like(x).copy_(self.weight), x.copy_(y)


def test_whole_copies_are_what_they_copy() -> None:
    model, inputs = Copies(), {"x": torch.ones(2, 3), "y": torch.zeros(2, 3)}
    exported = export(model, inputs)
    fresh = {"x": torch.randn(2, 3), "y": torch.randn(2, 3)}
    assert_same(exported(fresh), model(**copy.deepcopy(fresh)))
