"""A diagnosis sees every op, goes on after one that would end the trace, and names all of them."""

from __future__ import annotations

import ast
from typing import Any

import pytest
import torch
from torch import nn

pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from exporters.base import Diagnosis, OpStatus, OpUse, Selection  # noqa: E402
from exporters.neuron.diagnosis import diagnose  # noqa: E402
from exporters.neuron.frames import raised_at  # noqa: E402
from exporters.neuron.lowerings import LOWERINGS  # noqa: E402
from exporters.neuron.sketches import sketch  # noqa: E402

UNLOWERED = "aten::special_bessel_j0"
LOWERED_BY_US = "aten::im2col"
# Outside of the model, which is as before when its trace has ended.
BRANCHES: list[bool] = []


class Troubled(nn.Module):
    """Takes a Bessel function of what derives from a weight, an input and both, and goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.matrix = nn.Parameter(torch.diag(torch.arange(1.0, 5.0)))
        self.last = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        square = x.transpose(-1, -2) @ x
        folded = torch.special.bessel_j0(self.matrix)
        baked = torch.special.bessel_j0(square)
        refused = torch.special.bessel_j0(square + self.matrix)
        # A value that the trace does not have.
        BRANCHES.append(bool(refused.sum() > 0))
        patches = nn.functional.unfold(self.last(x)[None, None], 2)
        return folded + baked + refused + patches.sum()


@pytest.fixture(scope="module")
def seen() -> tuple[Troubled, Diagnosis, list[OpUse]]:
    torch.manual_seed(0)
    model, x = Troubled().eval(), torch.randn(6, 4)
    BRANCHES.clear()
    model(x)
    told: list[OpUse] = []
    return model, diagnose(model, {"x": x}, Selection(), told.append), told


def uses(found: Diagnosis, op: str) -> dict[str | None, OpUse]:
    return {use.kind: use for use in found.uses if use.op == op}


def test_one_op_has_a_status_for_each_kind_of_operand(
    seen: tuple[Troubled, Diagnosis, list[OpUse]],
) -> None:
    assert UNLOWERED not in LOWERINGS, "take another op that XLA does not lower"
    by_kind = uses(seen[1], UNLOWERED)
    assert {kind: use.status for kind, use in by_kind.items()} == {
        "weight": OpStatus.FOLDED,
        "input": OpStatus.ON_ACTIVATION,
        "weight and input": OpStatus.ON_WEIGHT,
    }
    assert [use.is_fatal for use in by_kind.values()].count(True) == 1
    assert "parameter matrix" in by_kind["weight"].operands[0]
    assert all("test_diagnosis.py:" in (use.source or "") for use in by_kind.values())


def test_the_forward_goes_on_with_the_value_of_eager(
    seen: tuple[Troubled, Diagnosis, list[OpUse]],
) -> None:
    _, found, _ = seen
    assert found.error is None
    in_eager, in_trace = BRANCHES
    assert in_trace == in_eager
    assert uses(found, LOWERED_BY_US)["weight and input"].status is OpStatus.LOWERED_BY_US


def test_what_ends_the_trace_stands_first(seen: tuple[Troubled, Diagnosis, list[OpUse]]) -> None:
    fatal = [use.is_fatal for use in seen[1].uses]
    assert fatal == sorted(fatal, reverse=True)
    assert fatal[0]


def test_each_use_is_told_when_it_is_seen(seen: tuple[Troubled, Diagnosis, list[OpUse]]) -> None:
    _, found, told = seen
    marked = [use for use in found.uses if use.status is not OpStatus.LOWERED]
    assert {(use.op, use.kind) for use in told} == {(use.op, use.kind) for use in marked}


def test_what_xla_lowers_is_counted(seen: tuple[Troubled, Diagnosis, list[OpUse]]) -> None:
    lowered = {use.op: use.count for use in seen[1].uses if use.status is OpStatus.LOWERED}
    # x.T @ x, and the linear layer: on two axes it is one product.
    assert lowered["aten::mm"] + lowered.get("aten::addmm", 0) == 2


class Raising(nn.Module):
    """Raises in eager too."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ torch.ones(7, 7, device=x.device)


def test_an_error_of_the_model_is_told_with_what_ran_before() -> None:
    found = diagnose(Raising(), {"x": torch.ones(2, 4)}, Selection(), lambda use: None)
    assert found.error is not None
    assert any(use.op == "aten::ones" for use in found.uses)


def test_the_line_of_an_error_is_the_innermost_of_the_model() -> None:
    model = "def forward(inner):\n    return inner()\n"
    names: dict[str, Any] = {}
    exec(compile(model, "/x/modeling_outer.py", "exec"), names)

    def helper() -> None:
        raise ValueError("beside the model")

    with pytest.raises(ValueError, match="beside") as caught:
        names["forward"](helper)
    assert raised_at(caught.value) == "modeling_outer.py:2"


@pytest.mark.parametrize("status", [OpStatus.ON_WEIGHT, OpStatus.ON_ACTIVATION, OpStatus.READ])
def test_a_sketch_is_python_that_names_its_op(status: OpStatus) -> None:
    use = OpUse(UNLOWERED, status, module_class=f"{__name__}:Raising", source="modeling_a.py:1")
    code = sketch(use)
    assert code is not None
    ast.parse(code)
    assert UNLOWERED in code


def test_a_sketch_of_a_lowering_takes_the_arguments_of_the_op() -> None:
    code = sketch(OpUse(UNLOWERED, OpStatus.ON_WEIGHT))
    assert code is not None
    names: dict[str, object] = {}
    exec(compile(code, "sketch", "exec", dont_inherit=True), names)
    (lowering,) = names["LOWERINGS"]  # type: ignore[misc]
    assert lowering.op == UNLOWERED
    with pytest.raises(NotImplementedError):
        lowering.function(torch.eye(2))


def test_a_sketch_is_python_whatever_the_arguments_are_called() -> None:
    code = sketch(OpUse("aten::uniform", OpStatus.ON_ACTIVATION))
    assert code is not None
    ast.parse(code)
    assert "from_: Any = 0.0" in code


@pytest.mark.parametrize("op", ["xla::max_pool2d_forward", "prims::abs", "aten::add.Tensor"])
def test_a_sketch_can_be_of_an_op_that_is_not_of_aten(op: str) -> None:
    code = sketch(OpUse(op, OpStatus.RAISES, message="ValueError: no"))
    assert code is not None
    ast.parse(code)
    assert f'op="{op}"' in code


def test_what_is_mended_needs_no_sketch() -> None:
    assert sketch(OpUse(UNLOWERED, OpStatus.FOLDED, remedy="fold")) is None


class Drawing(nn.Module):
    """Draws from what its weights say, and goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.rates = nn.Parameter(torch.full((4, 4), 3.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        drawn = torch.poisson(self.rates)
        return torch.special.bessel_j0(x @ drawn)


def test_what_is_random_and_of_weights_does_not_end_the_diagnosis() -> None:
    found = diagnose(Drawing(), {"x": torch.ones(2, 4)}, Selection(), lambda use: None)
    assert found.error is None
    (poisson,) = uses(found, "aten::poisson").values()
    assert (poisson.status, poisson.is_fatal) == (OpStatus.ON_WEIGHT, True)
    # Behind it, on what was drawn.
    assert UNLOWERED in {use.op for use in found.uses}


class Branching(nn.Module):
    """Asks whether a mask, or another input, is all true."""

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor, is_short: Any) -> Any:
        if not attention_mask.bool().all():
            x = x * attention_mask[..., None]
        return x if is_short.all() else x + 1


@pytest.mark.parametrize("last", [0, 1], ids=["padded", "unpadded"])
def test_a_question_about_the_whole_mask_is_told_from_one_about_another_input(last: int) -> None:
    mask = torch.tensor([[1, 1, last]])
    inputs = {"x": torch.ones(1, 3, 4), "attention_mask": mask, "is_short": torch.tensor([True])}
    found = diagnose(Branching(), inputs, Selection(), lambda use: None)
    by_input = {use.operands[0].rpartition(" ")[2]: use for use in found.uses if use.remedy}
    of_mask, of_other = by_input["attention_mask"], by_input["is_short"]
    assert (of_mask.status, of_mask.remedy) == (OpStatus.GENERAL_BRANCH, "masks")
    assert (of_other.status, of_other.remedy) == (OpStatus.READ, "read")
