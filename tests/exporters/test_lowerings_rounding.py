"""Half precision is rounded as eager rounds it, to the bit, also between one op and the next."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_xla")

from exporters.base import ExportOptions, Selection  # noqa: E402
from exporters.neuron import xla  # noqa: E402

VALUES = torch.linspace(-8, 30, 2001)


class Softplus(torch.nn.Module):
    """A weight in half precision, in two steps of half precision, that scales an input."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(VALUES.to(dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (torch.nn.functional.softplus(self.weight) + self.weight[:1]) * x


def difference(dtype: torch.dtype, options: ExportOptions) -> float:
    model, inputs = Softplus(dtype), {"x": torch.ones(1)}
    traced = xla.trace(model, inputs, options)
    return (traced(inputs) - model(**inputs)).abs().max().item()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_weight_in_half_precision_is_rounded_where_eager_rounds_it(dtype: torch.dtype) -> None:
    assert difference(dtype, ExportOptions()) == 0.0


def test_torch_xla_rounds_between_the_steps_of_an_op() -> None:
    assert difference(torch.bfloat16, ExportOptions(lowerings=Selection.parse("off"))) > 0.0
