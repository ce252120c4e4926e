"""The replacement of unfold: equal to torch's where it applies, and an error where it does not."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch import nn

from exporters.neuron.patches import PatchNotCoveredError, trace_patches
from exporters.neuron.patches.convbert import UnfoldNotCoveredError, unfold
from tests.exporters import patch_models as models

torch_unfold = torch.nn.functional.unfold
PIXELS = torch.randn(2, 3, 7, 4, generator=torch.Generator().manual_seed(0))
COVERED: dict[str, Any] = {"kernel_size": (3, 1), "dilation": 1, "padding": (1, 0), "stride": 1}


@pytest.mark.parametrize("window", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("pad", [0, 1, 3])
@pytest.mark.parametrize("shape", [(2, 3, 7, 4), (1, 1, 7, 1), (0, 3, 7, 1)])
def test_covered_arguments_give_what_torch_gives(
    window: int, pad: int, shape: tuple[int, ...]
) -> None:
    x = torch.randn(shape)
    arguments = {"kernel_size": [window, 1], "padding": [pad, 0]}
    expected = torch_unfold(x, **arguments)
    found = unfold(x, **arguments)
    assert found.shape == expected.shape
    assert torch.equal(found, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_every_float_type_is_moved_unchanged(dtype: torch.dtype) -> None:
    x = PIXELS.to(dtype)
    assert torch.equal(unfold(x, **COVERED), torch_unfold(x, **COVERED))


@pytest.mark.parametrize("ones", [1, (1, 1), [1, 1]])
def test_dilation_and_stride_may_be_a_number_or_a_pair(ones: Any) -> None:
    arguments = COVERED | {"dilation": ones, "stride": ones}
    assert torch.equal(unfold(PIXELS, **arguments), torch_unfold(PIXELS, **COVERED))


def test_infinities_and_nans_are_moved_and_not_computed_with() -> None:
    x = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0]).reshape(1, 1, 4, 1)
    found, expected = unfold(x, **COVERED), torch_unfold(x, **COVERED)
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"kernel_size": 3}, "a kernel of width 3"),
    ({"kernel_size": (3, 2)}, "a kernel of width 2"),
    ({"kernel_size": (0, 1)}, "a kernel of height 0"),
    ({"kernel_size": (3,)}, r"kernel_size=\(3,\), which is no pair"),
    ({"kernel_size": (3, 1, 1)}, "which is no pair"),
    ({"dilation": (1,)}, "dilation=.*which is no pair"),
    ({"padding": (1,)}, "padding=.*which is no pair"),
    ({"stride": (1, 1, 1)}, "stride=.*which is no pair"),
    ({"padding": 1}, "padding of the width by 1"),
    ({"padding": (1, 2)}, "padding of the width by 2"),
    ({"padding": (-1, 0)}, "padding of the height by -1"),
    ({"dilation": 2}, "dilation=2"),
    ({"dilation": (2, 1)}, r"dilation=\(2, 1\)"),
    ({"dilation": (1, 2)}, r"dilation=\(1, 2\)"),
    ({"stride": 2}, "stride=2"),
    ({"stride": (2, 1)}, r"stride=\(2, 1\)"),
    ({"stride": (1, 2)}, r"stride=\(1, 2\)"),
    ({"kernel_size": (10, 1)}, "a window higher than the padded input"),
    ({"input": PIXELS[0]}, "an input of 3 dimensions"),
    ({"input": PIXELS[None]}, "an input of 5 dimensions"),
    ({"input": PIXELS.long()}, "an input of torch.int64"),
    ({"input": PIXELS > 0}, "an input of torch.bool"),
    ({"input": PIXELS[:, :0]}, "an empty input of shape"),
    ({"input": PIXELS[..., :0]}, "an empty input of shape"),
]


@pytest.mark.parametrize(("change", "reason"), REFUSED)
def test_any_other_argument_is_refused_with_its_reason(change: Any, reason: str) -> None:
    arguments = {"input": PIXELS} | COVERED | change
    with pytest.raises(UnfoldNotCoveredError, match=reason):
        unfold(**arguments)


def test_every_reason_is_given_at_once() -> None:
    with pytest.raises(UnfoldNotCoveredError, match=r"width 2.*dilation=3.*stride=2"):
        unfold(PIXELS, (1, 2), dilation=3, stride=2)


def test_a_highest_window_is_covered_and_one_more_is_not() -> None:
    # 7 rows and 1 of padding on each side hold 9.
    assert unfold(PIXELS, (9, 1), padding=(1, 0)).shape == (2, 27, 4)
    with pytest.raises(UnfoldNotCoveredError):
        unfold(PIXELS, (10, 1), padding=(1, 0))


class _Recorder(nn.Module):
    """Calls unfold where a model that is no ConvBert would."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch_unfold(x, 2, stride=2)


def test_an_uncovered_call_of_the_model_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    model, inputs = models.build("ConvBertModel"), models.inputs_of("ConvBertModel")
    for layer in model.encoder.layer:
        attention = layer.attention.self
        original = attention.forward
        attention.forward = lambda *a, f=original, **k: (torch_unfold(PIXELS, 2), f(*a, **k))[1]
    with (
        pytest.raises(PatchNotCoveredError, match="a kernel of width 2"),
        trace_patches(model, inputs),
    ):
        models.run(model, inputs)


def test_modules_that_are_no_convbert_keep_torch_unfold() -> None:
    model = nn.ModuleDict({"text": models.build("ConvBertModel"), "other": _Recorder()})
    expected = torch_unfold(PIXELS, 2, stride=2)
    with trace_patches(model, {}) as applied:
        assert applied == ("convbert",)
        assert torch.equal(model["other"](PIXELS), expected)
        assert torch.nn.functional.unfold is torch_unfold


def test_other_threads_keep_torch_unfold_while_the_model_runs() -> None:
    model, inputs = models.build("ConvBertModel"), models.inputs_of("ConvBertModel")
    found: list[torch.Tensor] = []

    def other(*_: Any) -> None:
        thread = threading.Thread(target=lambda: found.append(torch_unfold(PIXELS, 2)))
        thread.start()
        thread.join()

    model.encoder.layer[0].attention.self.conv_out_layer.register_forward_hook(other)
    with trace_patches(model, inputs):
        models.run(model, inputs)
    assert torch.equal(found[0], torch_unfold(PIXELS, 2))


def test_no_im2col_is_left_while_patched() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Ops(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.names: set[str] = set()

        def __torch_dispatch__(
            self, op: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.names.add(op.name())
            return op(*args, **(kwargs or {}))

    model, inputs = models.build("ConvBertModel"), models.inputs_of("ConvBertModel")
    with Ops() as unpatched:
        models.run(model, inputs)
    with trace_patches(model, inputs), Ops() as patched:
        models.run(model, inputs)
    assert "aten::im2col" in unpatched.names
    assert "aten::im2col" not in patched.names
