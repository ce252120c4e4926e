"""What is declared dynamic is run at other sizes, and a failure names the axis that is frozen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from exporters.base import RuntimeLimitError
from testing.results import CaseResult, Outcome
from testing.subject import Subject
from tests.testing.doubles import EagerDouble, ExportingDouble, MadeInputs, run_double

Make = Callable[..., dict[str, Any]]


def texts(features: int = 16) -> Make:
    """Hidden states of a batch and a length."""

    def make(generator: torch.Generator, family: str, batch: int, length: int) -> dict[str, Any]:
        return {"src": torch.randn(batch, length, features, generator=generator)}

    return make


def layer() -> nn.Module:
    torch.manual_seed(0)
    return nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0)


def run(model: nn.Module, double: EagerDouble, batch: int = 3, **axes: int) -> CaseResult:
    inputs = MadeInputs(texts(), batch_size=batch, axes=axes)
    return run_double(model, inputs, double, dynamic=True)


class Frozen(nn.Module):
    """Reshapes by what it saw while it was traced, as a program whose axis is frozen does."""

    def __init__(self, batch: int | None = None, length: int | None = None) -> None:
        super().__init__()
        self.sizes = batch, length
        self.scale = nn.Parameter(torch.tensor(1.5))

    def forward(self, src):
        if torch.compiler.is_exporting():
            batch, length = (seen or now for seen, now in zip(self.sizes, src.shape, strict=False))
            src = src.reshape(batch, length, src.shape[-1])
        return (src * self.scale).cumsum(1)


def test_a_layer_that_takes_every_size_passes_at_all_of_them():
    """B22: batch and length of a real layer, declared dynamic, each tried at others."""
    result = run(layer(), ExportingDouble(), length=4)
    assert result.outcome is Outcome.PASSED, result.message


@pytest.mark.parametrize(
    ("fixed", "told"),
    [
        (
            (("src", 1),),
            "Frozen though declared dynamic: the axis `length`: right at 4, wrong at 3, 6.",
        ),
        (
            (("src", 0),),
            "Frozen though declared dynamic: the axis `batch`: right at 3, wrong at 1, 7.",
        ),
    ],
)
def test_an_axis_of_the_layer_that_was_not_declared_is_named(fixed, told):
    double = ExportingDouble()
    double.fixed = fixed
    result = run(layer(), double, length=4)
    assert result.outcome is Outcome.FAILED
    assert told in result.message
    assert f"`{'batch' if 'length' in told else 'length'}`: right" not in result.message


def test_a_sample_of_one_text_that_froze_the_batch_is_told():
    """B22: sample (1, 4). torch.export takes an axis of size 1 for a constant."""
    result = run(layer(), ExportingDouble(), batch=1, length=4)
    assert result.outcome is Outcome.FAILED
    assert "Frozen though declared dynamic: the axis `batch`: right at 1, wrong at 3" in (
        result.message
    )
    assert "Note: `batch` is 1 in the trace, which may be fixed in the program." in result.message
    assert "the axis `length`" not in result.message


def test_equal_sizes_in_the_sample_are_told_and_pass_where_nothing_ties_them():
    """B22: batch = length = heads."""
    result = run(layer(), ExportingDouble(), batch=2, length=2)
    assert "`length` and `batch` are both 2 in the trace" in result.message
    assert result.outcome is Outcome.PASSED, result.message


@pytest.mark.parametrize("axis", ["batch", "length"])
def test_a_size_that_was_baked_in_is_named(axis):
    result = run(Frozen(**{axis: 3 if axis == "batch" else 4}), ExportingDouble(), length=4)
    assert result.outcome is Outcome.FAILED
    other = "length" if axis == "batch" else "batch"
    assert f"Frozen though declared dynamic: the axis `{axis}`" in result.message
    assert f"the axis `{other}`" not in result.message


def wrong_at(condition: Callable[[torch.Tensor], bool]) -> EagerDouble:
    def edit(output: torch.Tensor) -> torch.Tensor:
        return output + 1 if condition(output) else output

    return EagerDouble(edit=edit)


def test_wrong_values_at_another_length_alone_name_it_and_the_sizes_that_are_right():
    result = run(layer(), wrong_at(lambda out: out.shape[1] > 4), length=4)
    assert "Depends on the axis `length`: right at 4, 3, wrong at 6." in result.message
    assert result.outcome is Outcome.FAILED


def test_both_sizes_changed_at_once_are_tried():
    result = run(layer(), wrong_at(lambda out: out.shape[:2] == (7, 6)), length=4)
    assert result.outcome is Outcome.FAILED
    assert "wrong where several change at once" in result.message
    assert "On batch size 7, length 6 (inputs `ramp`)" in result.message


class Limited(nn.Module):
    """Takes no text of more than four tokens, as a table of positions may not."""

    def __init__(self) -> None:
        super().__init__()
        self.places = nn.Parameter(torch.arange(4.0))

    def forward(self, src):
        return src * self.places[torch.arange(src.shape[1])].unsqueeze(-1)


def test_a_size_that_eager_refuses_is_no_trial_and_is_told():
    result = run(Limited(), EagerDouble(), length=4)
    assert result.outcome is Outcome.PASSED
    assert "Note: length not tried at 6, which eager refuses: IndexError" in result.message


class OfOneSize(nn.Module):
    """Takes the batch of the trace alone."""

    def __init__(self) -> None:
        super().__init__()
        self.places = nn.Parameter(torch.ones(3, 4, 16))

    def forward(self, src):
        torch._assert(src.shape == self.places.shape, "another size")
        return src * self.places


@pytest.mark.parametrize("families", [("noise", "ramp"), ()])
def test_a_dynamic_case_that_could_try_no_other_size_has_nothing_to_show(families):
    """Where eager refuses them all, and where no input may differ."""
    inputs = MadeInputs(texts(), families, batch_size=3, axes={"length": 4})
    result = run_double(OfOneSize(), inputs, EagerDouble(), dynamic=True)
    assert result.outcome is Outcome.PASSED
    assert "Proves nothing: no other size of any axis could be tried." in result.message


class OfWholePatches(nn.Module):
    """Cuts its length into patches of four."""

    def forward(self, src):
        return src.unflatten(1, (-1, 4)) * 2


def test_an_axis_that_takes_multiples_alone_is_tried_at_twice_its_size():
    def frozen(inputs: dict[str, Any]) -> dict[str, Any]:
        torch._assert(inputs["src"].shape[1] == 4, "a constant of the program")
        return inputs

    result = run(OfWholePatches(), EagerDouble(edit_call=frozen), length=4)
    assert result.outcome is Outcome.FAILED
    assert "the axis `length`: right at 4, wrong at 8." in result.message


def limited(inputs: dict[str, Any]) -> dict[str, Any]:
    if inputs["src"].shape[1] > 4:
        raise RuntimeLimitError("resize 0x10")
    return inputs


def test_a_limit_of_the_runtime_at_another_size_is_no_frozen_axis():
    result = run(layer(), EagerDouble(edit_call=limited), length=4)
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, "runtime limit: resize 0x10")
    assert result.stage == "run"


@pytest.mark.parametrize("batch", [3, 7])
def test_a_limit_at_one_size_hides_no_wrong_values_at_others(batch):
    """At the batch of the trace, and at another one."""

    def edit(output: torch.Tensor) -> torch.Tensor:
        return output + 1 if len(output) == batch else output

    result = run(layer(), EagerDouble(edit=edit, edit_call=limited), length=4)
    assert (result.outcome, result.stage) == (Outcome.FAILED, "compare")
    assert "Note: not run on length 6 (inputs `" in result.message


def test_static_cases_and_backends_that_chunk_try_no_lengths():
    seen: list[tuple[int, ...]] = []

    def edit_call(inputs: dict[str, Any]) -> dict[str, Any]:
        seen.append(tuple(inputs["src"].shape[:2]))
        return inputs

    inputs = MadeInputs(texts(), batch_size=3, axes={"length": 4})
    run_double(layer(), inputs, EagerDouble(edit_call=edit_call))
    run_double(layer(), inputs, EagerDouble(edit_call=edit_call, chunks=True), dynamic=True)
    assert {length for _, length in seen} == {4}
    assert {batch for batch, _ in seen} == {1, 3, 6, 7}


def test_a_subject_without_axes_is_tried_at_other_batches():
    seen: set[int] = set()

    def edit_call(inputs: dict[str, Any]) -> dict[str, Any]:
        seen.add(len(inputs["src"]))
        return inputs

    make = texts()
    inputs = MadeInputs(lambda generator, family, batch: make(generator, family, batch, 4))
    double = EagerDouble(edit_call=edit_call)
    result = run_double(layer(), inputs, double, dynamic=True)
    assert result.outcome is Outcome.PASSED
    assert seen == {1, 2, 3, 5}
    assert isinstance(Subject(layer(), inputs), Subject)
