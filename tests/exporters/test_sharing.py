"""Large weights on XLA's CPU client: in place where that is possible, and right anyhow."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from exporters.neuron import lazy  # noqa: E402

SIZE = 1024
Make = Callable[[torch.Tensor], torch.Tensor]


@pytest.mark.parametrize(
    "make",
    [
        lambda memory: memory[: SIZE * SIZE].view(SIZE, SIZE),
        # Behind a header of eight bytes, as in a safetensors file.
        lambda memory: memory[2 : SIZE * SIZE + 2].view(SIZE, SIZE),
        lambda memory: memory[: SIZE * SIZE].view(SIZE, SIZE).t(),
        lambda memory: memory[: SIZE * SIZE].view(SIZE, SIZE).to(torch.bfloat16),
        lambda memory: memory[: SIZE * SIZE].view(SIZE, SIZE) > 0,
        lambda memory: memory[:4],
    ],
    ids=["aligned", "misaligned", "transposed", "bfloat16", "bool", "small"],
)
def test_the_values_are_those_of_the_tensor(make: Make) -> None:
    tensor = make(torch.randn(SIZE * SIZE + 16))
    shared = lazy.share(tensor)
    assert shared.device.type == "xla"
    assert shared.dtype == tensor.dtype
    assert torch.equal(shared.cpu(), tensor)


def test_a_computation_leaves_the_memory_as_it_was() -> None:
    tensor = torch.randn(SIZE, SIZE)
    before = tensor.clone()
    shared = lazy.share(tensor)
    shared.add_(1)
    assert torch.equal(shared.cpu(), before + 1)
    assert torch.equal(tensor, before)
