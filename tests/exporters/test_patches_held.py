"""Tensors and modules that are held unregistered are traced as weights are, and stay as held."""

from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from torch import nn  # noqa: E402

from exporters.base import ExportOptions, Selection, WeightsInlinedError  # noqa: E402
from exporters.flat import FlatForward  # noqa: E402
from exporters.neuron import NeuronBackend, lazy  # noqa: E402
from exporters.neuron.patches import trace_patches  # noqa: E402
from tests.exporters import patch_models as models  # noqa: E402

X = {"x": torch.randn(2, 4)}
UNPATCHED = Selection.parse("off")


class Table(nn.Module):
    """Holds a tensor as a plain attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(4))
        self.table = torch.rand(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cdist(x * self.scale, self.table[None])


class Cache(nn.Module):
    """Keeps what its first forward makes of a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.rand(4, 4))
        self.kept: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.kept is None:
            self.kept = self.total / 2
        return x @ self.kept


class Folded(Cache):
    """Keeps what the program does not get, but what is folded of it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.kept is None:
            self.kept = self.total / 2
        return x @ torch.special.bessel_j0(self.kept)


class Listed(nn.Module):
    """Has modules in a plain list, one of which holds a tensor and both of which share one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.more = [Table(), nn.Sequential(nn.Linear(4, 4), self.first)]

    def forward(self, x: torch.Tensor) -> Any:
        return {"table": self.more[0](x), "deep": self.more[1](self.first(x))}


def run_first(model: nn.Module) -> nn.Module:
    models.run(model.eval(), X)
    return model


def export(model: nn.Module, patches: str = "on", guard: bool = True) -> Any:
    options = ExportOptions(runtime="xla", patches=Selection.parse(patches), guard=guard)
    return NeuronBackend().export(model, X, options)


HOLDERS = pytest.mark.parametrize("build", [Table, Cache, Listed])


@HOLDERS
def test_what_is_held_is_an_argument_of_the_program(build: type[nn.Module]) -> None:
    model, fresh = run_first(build()), {"x": torch.randn(2, 4)}
    before = models.Fingerprint(model)
    exported = export(model)
    assert exported.patches == ("held",)
    assert not before.differs(model)
    torch.testing.assert_close(exported(fresh), model(**fresh))
    other = copy.deepcopy(model)
    for tensor in held(other):
        tensor.mul_(3)
    torch.testing.assert_close(exported.with_weights(other)(fresh), other(**fresh))
    assert not torch.equal(held(other)[0], held(model)[0])


@HOLDERS
def test_without_the_patch_its_op_is_refused(build: type[nn.Module]) -> None:
    with pytest.raises(RuntimeError, match=r"same device type|XLA tensor"):
        export(run_first(build()), "off")


@HOLDERS
def test_the_graph_is_the_same_with_and_without_the_guard(build: type[nn.Module]) -> None:
    model = run_first(build())
    programs = [
        lazy.program_of(export(model, guard=guard).program.computed) for guard in (True, False)
    ]
    assert programs[0] == programs[1]


@HOLDERS
def test_the_model_computes_the_same_while_it_is_patched(build: type[nn.Module]) -> None:
    model = run_first(build())
    before, unpatched = models.Fingerprint(model), models.run(model, X)
    with trace_patches(model, X) as applied, trace_patches(model, X) as again:
        patched = models.run(model, X)
        names = set(dict(model.named_buffers())) | set(dict(model.named_parameters()))
    assert applied == ("held",)
    assert again == ()  # registered already
    assert patched.keys() == unpatched.keys()
    assert all(torch.equal(patched[path], value) for path, value in unpatched.items())
    assert names > set(dict(model.named_buffers())) | set(dict(model.named_parameters()))
    assert not before.differs(model)


def test_a_module_in_a_list_is_left_as_it_was() -> None:
    model = Listed()
    before = [models.Fingerprint(part) for part in model.more]
    export(model)
    assert not any(was.differs(part) for was, part in zip(before, model.more, strict=True))


@pytest.mark.parametrize("build", [Cache, Folded])
def test_weights_without_the_cache_of_the_trace_are_refused(build: type[nn.Module]) -> None:
    exported = export(run_first(build()))
    with pytest.raises(WeightsInlinedError, match="held kept|no weight kept"):
        exported.with_weights(build())


def test_a_cache_that_is_empty_is_computed_in_the_graph() -> None:
    model, other = Cache(), Cache()
    exported = export(model)
    assert exported.patches == ()
    assert model.kept is None
    torch.testing.assert_close(exported.with_weights(other)(X), other(**X))


def test_the_eager_run_before_another_tracer_fills_no_cache() -> None:
    model = Cache()
    FlatForward(model, X)
    assert model.kept is None


class Parent(nn.Module):
    """Is held by its own part, and holds what needs no patch."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.utils.weight_norm(nn.Linear(4, 4))
        self.register_buffer("mask", torch.ones(4))
        self.same = self.mask
        self.half = torch.tensor(0.5)
        self.linear.parents = [self]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * self.mask * self.half


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_what_no_trace_leaves_behind_needs_no_patch() -> None:
    with trace_patches(Parent(), X) as applied:
        assert applied == ("weight_norm",)


class Owner(nn.Module):
    """Holds a module that contains its owner, in a list that contains itself."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.helper = torch.rand(4), [nn.ModuleList()]
        self.helper[0].append(self)
        self.helper.append(self.helper)


def test_no_model_comes_to_contain_itself() -> None:
    model = Owner()
    with trace_patches(model, X) as applied:
        assert applied == ("held",)
        assert dict(model.named_buffers()).keys() == {"table"}
        assert model.train(False) is model  # would recurse for ever


def held(model: nn.Module) -> list[torch.Tensor]:
    """The tensors beside parameters and buffers."""
    with trace_patches(model, X):
        inside = {id(t): t for t in (*model.parameters(), *model.buffers())}
    outside = {id(t) for t in (*model.parameters(), *model.buffers())}
    return [tensor.detach() for key, tensor in inside.items() if key not in outside]
