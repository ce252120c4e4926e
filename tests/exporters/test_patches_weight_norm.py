"""Weight norm: both forms, every `dim`, ties, stacks, and the value that the module computes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

from exporters.neuron.patches import trace_patches
from tests.exporters.patch_models import named_tensors

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")
Form = Callable[..., nn.Module]
FORMS = pytest.mark.parametrize("form", [parametrizations.weight_norm, nn.utils.weight_norm])
MODULES: list[tuple[Callable[[], nn.Module], tuple[int, ...]]] = [
    (lambda: nn.Conv1d(4, 6, 3), (2, 4, 9)),
    (lambda: nn.Conv1d(4, 6, 3, groups=2), (2, 4, 9)),
    (lambda: nn.ConvTranspose1d(4, 6, 3), (2, 4, 9)),
    (lambda: nn.Conv2d(4, 6, (3, 2)), (2, 4, 5, 5)),
]


def normed(make: Callable[[], nn.Module], form: Form, dim: int | None) -> nn.Module:
    torch.manual_seed(0)
    module = form(make(), dim=dim)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()
    return module


def by_definition(magnitude: torch.Tensor, direction: torch.Tensor) -> torch.Tensor:
    """Salimans and Kingma 2016, equation 2, in float64: the norm is over what g does not span."""
    axes = [axis for axis, size in enumerate(magnitude.shape or [1]) if size == 1]
    axes = axes if magnitude.dim() else list(range(direction.dim()))
    squares = direction.double().square().sum(dim=axes, keepdim=True)
    return magnitude.double() * direction.double() / squares.sqrt()


def originals(module: nn.Module) -> tuple[torch.Tensor, torch.Tensor]:
    if parametrize.is_parametrized(module):
        norm: Any = module.parametrizations
        return norm.weight.original0, norm.weight.original1
    return module.weight_g, module.weight_v  # type: ignore[return-value]


@FORMS
@pytest.mark.parametrize("dim", [0, 1, 2, -1, None])
@pytest.mark.parametrize(("make", "shape"), MODULES)
def test_the_folded_weight_is_the_definition_and_the_output_is_exact(
    form: Form, dim: int | None, make: Callable[[], nn.Module], shape: tuple[int, ...]
) -> None:
    module, x = normed(make, form, dim), torch.randn(shape)
    unpatched = module(x)
    with trace_patches(module, x) as applied:
        assert applied == ("weight_norm",)
        (folded,) = [v for name, v in named_tensors(module).items() if "folded" in name]
        patched = module(x)
    assert (patched - unpatched).abs().max().item() == 0.0
    torch.testing.assert_close(
        folded.double(), by_definition(*originals(module)), rtol=1e-5, atol=0
    )


@FORMS
def test_no_norm_is_computed_while_patched(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    module = normed(MODULES[0][0], form, 2)

    def refuse(*_: Any) -> None:
        raise AssertionError("computed in the trace")

    with trace_patches(module, ()):
        monkeypatch.setattr(torch, "_weight_norm", refuse)
        monkeypatch.setattr(sys.modules[nn.utils.weight_norm.__module__], "_weight_norm", refuse)
        module(torch.randn(2, 4, 9))


@FORMS
def test_a_norm_of_another_tensor_than_the_weight_is_folded(form: Form) -> None:
    torch.manual_seed(0)
    module, x = form(form(nn.Linear(3, 4), name="weight"), name="bias"), torch.randn(2, 3)
    unpatched = module(x)
    with trace_patches(module, x):
        assert sum("folded" in name for name in named_tensors(module)) == 2
        assert torch.equal(module(x), unpatched)


@FORMS
def test_what_is_tied_stays_one_tensor(form: Form) -> None:
    first, second, alone = (normed(lambda: nn.Linear(3, 3), form, 0) for _ in range(3))
    if parametrize.is_parametrized(first):
        norms: list[Any] = [module.parametrizations.weight for module in (first, second)]
        norms[1].original0, norms[1].original1 = norms[0].original0, norms[0].original1
    else:
        second.weight_g, second.weight_v = first.weight_g, first.weight_v
    model = nn.Sequential(first, second, alone, first)
    with trace_patches(model, ()):
        buffers = dict(model.named_buffers(remove_duplicate=False))
        folded = [value for name, value in buffers.items() if "folded" in name]
    assert folded[0] is folded[1] is folded[3]
    assert folded[0] is not folded[2]


def test_a_parametrization_on_top_of_weight_norm_still_runs() -> None:
    class Doubled(nn.Module):
        def forward(self, weight: torch.Tensor) -> torch.Tensor:
            return 2 * weight

    module = normed(lambda: nn.Linear(3, 3), parametrizations.weight_norm, 0)
    parametrize.register_parametrization(module, "weight", Doubled())
    unpatched = module.weight.clone()
    with trace_patches(module, ()) as applied:
        assert applied == ("weight_norm",)
        assert torch.equal(module.weight, unpatched)


def test_other_parametrizations_and_hooks_are_left_alone() -> None:
    module = parametrizations.spectral_norm(nn.Linear(3, 3)).eval()
    module.register_forward_pre_hook(lambda *_: None)
    hooks = dict(module._forward_pre_hooks)
    with trace_patches(module, ()) as applied:
        assert applied == ()
        assert module._forward_pre_hooks == hooks


@FORMS
def test_training_goes_on_afterwards(form: Form) -> None:
    module, x = normed(MODULES[0][0], form, 2), torch.randn(2, 4, 9)
    with trace_patches(module, x):
        module(x)
    module(x).sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in originals(module))
