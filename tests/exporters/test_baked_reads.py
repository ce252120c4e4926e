"""Values baked in while tracing: right on the traced inputs, wrong on others, and named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from exporters.neuron import NeuronBackend  # noqa: E402
from testing.results import Outcome  # noqa: E402
from testing.settings import RunSettings  # noqa: E402
from tests.testing.doubles import MadeInputs, run_double  # noqa: E402


class ReadsMean(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * x.mean().item()


class ReadsProduct(ReadsMean):
    """What derives from inputs and weights has a value for the trace's inputs only."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        return y * y.mean().item()


class BranchesOnMask(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.linear(x)
        if mask.all():
            return x
        return x * mask


class ComputesMean(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * x.mean()


def plain(generator: torch.Generator, family: str, batch: int) -> dict[str, Any]:
    return {"x": torch.randn(batch, 4, generator=generator)}


def masked(generator: torch.Generator, family: str, batch: int) -> dict[str, Any]:
    """Unpadded in the trace, padded elsewhere."""
    mask = torch.ones(batch, 4)
    mask[-1, 2:] = 1.0 if family == "traced" else 0.0
    return {**plain(generator, family, batch), "mask": mask}


@pytest.mark.parametrize(
    ("model", "inputs", "operand", "line", "lowerings"),
    [
        (ReadsMean, plain, "x", "return self.linear(x) * x.mean().item()", "on"),
        (ReadsProduct, plain, "x", "return y * y.mean().item()", "on"),
        (BranchesOnMask, masked, "mask", "if mask.all():", "off"),
        (BranchesOnMask, masked, "mask", "if mask.all():", "fold,read"),
    ],
)
def test_a_value_baked_in_fails_on_fresh_inputs_and_is_named(
    model: Any, inputs: Any, operand: str, line: str, lowerings: str
) -> None:
    settings = RunSettings(lowerings=lowerings)
    result = run_double(model(), MadeInputs(inputs), NeuronBackend(), settings=settings)
    assert (result.outcome, result.stage) == (Outcome.FAILED, "compare")
    where = f"test_baked_reads.py:{line_number(line)}"
    assert result.baked_reads == [f"aten::_local_scalar_dense of {operand} at {where}"]
    assert result.message is not None
    assert result.message.startswith(
        "Agrees with eager on the traced inputs and not on fresh ones: a value was baked in"
    )
    assert where in result.message


def test_a_branch_on_a_mask_is_traced_for_every_mask() -> None:
    result = run_double(BranchesOnMask(), MadeInputs(masked), NeuronBackend())
    assert (result.outcome, result.lowerings) == (Outcome.PASSED, ["masks"])


class WholeMask(BranchesOnMask):
    """Asks of a mask that has an input's name and is not of that input alone."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.linear(x)
        if (mask * x.isfinite()).all():
            return x
        return x * mask


def test_a_branch_on_other_values_is_taken_as_eager_takes_it() -> None:
    result = run_double(WholeMask(), MadeInputs(masked), NeuronBackend())
    assert (result.outcome, result.lowerings) == (Outcome.FAILED, [])


def test_what_is_computed_in_the_graph_passes() -> None:
    result = run_double(ComputesMean(), MadeInputs(plain), NeuronBackend())
    assert (result.outcome, result.baked_reads) == (Outcome.PASSED, [])


def line_number(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip() == text)
