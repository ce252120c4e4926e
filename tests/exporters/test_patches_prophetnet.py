"""The replacement of fill_diagonal_: equal to torch's, and an error where it does not apply."""

from __future__ import annotations

import pytest
import torch

from exporters.neuron.patches import PatchNotCoveredError
from exporters.neuron.patches.prophetnet import fill_diagonal_

torch_fill_diagonal_ = torch.Tensor.fill_diagonal_


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (1, 1), (0, 3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_a_matrix_gets_the_diagonal_that_torch_gives_it(
    shape: tuple[int, int], dtype: torch.dtype
) -> None:
    found, expected = torch.ones(shape, dtype=dtype), torch.ones(shape, dtype=dtype)
    assert fill_diagonal_(found, 7) is found
    assert torch.equal(found, torch_fill_diagonal_(expected, 7))


def test_a_matrix_within_a_tensor_is_written_where_it_is() -> None:
    whole = torch.ones(2, 3, 3)
    fill_diagonal_(whole[1], 0, wrap=False)
    assert torch.equal(whole, torch.stack([torch.ones(3, 3), 1 - torch.eye(3)]))


@pytest.mark.parametrize(("shape", "wrap"), [((3, 3, 3), False), ((6, 3), True)])
def test_other_arguments_are_refused(shape: tuple[int, ...], wrap: bool) -> None:
    with pytest.raises(PatchNotCoveredError, match=r"fill_diagonal_ of shape \(.*wrap="):
        fill_diagonal_(torch.ones(shape), 0, wrap)
