"""ExecuTorch: inputs in their slots, user outputs alone, values, clean state, limits as such."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from exporters.base import (  # noqa: E402
    BackendUnavailableError,
    ExportedModel,
    ExportOptions,
    RuntimeLimitError,
    Variant,
)
from exporters.executorch import ExecutorchBackend  # noqa: E402
from exporters.executorch.limits import limit_of, limits_told  # noqa: E402
from exporters.executorch.slots import InputSlot, SlotError, Slots  # noqa: E402
from testing.comparison import compare  # noqa: E402
from testing.registry.entries import Tolerance  # noqa: E402
from testing.results import Outcome  # noqa: E402
from tests.testing.doubles import MadeInputs, run_double  # noqa: E402

CLOSE = Tolerance(1e-4, 1e-4)


def _unavailable() -> str | None:
    try:
        ExecutorchBackend().resolve_runtime()
    except BackendUnavailableError as error:
        return str(error)
    return None


needs_executorch = pytest.mark.skipif(bool(_unavailable()), reason=_unavailable() or "")


class Counting(nn.Module):
    """It counts its calls in a buffer, writes into an input, and takes a flag."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))
        self.weight = nn.Parameter(torch.tensor([2.0, 3.0, 5.0]))

    def forward(
        self, x: torch.Tensor, flag: bool = True, written: torch.Tensor | None = None
    ) -> dict[str, Any]:
        assert written is not None
        self.calls += 1
        written += 1
        return {"b": x * self.weight + self.calls, "none": None, "a": written * 2}


class Polar(nn.Module):
    """An op that torch.export takes and for which ExecuTorch's runtime has no kernel."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"y": torch.polar(x, x).abs()}


class Growing(nn.Module):
    """Sizes of both axes may be others."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"y": x * 2.0 + x.softmax(-1)}


def sample(scale: float = 1.0) -> dict[str, Any]:
    x = torch.arange(6.0).reshape(2, 3) * scale
    return {"x": x, "flag": True, "written": x + 10}


def slots_of(module: nn.Module, inputs: dict[str, Any]) -> Slots:
    program = torch.export.export(module, (), inputs, strict=False)
    return Slots(program.run_decompositions({}))


class TestSlots:
    """On programs of torch.export, which have the signature of what is made of them."""

    @pytest.fixture(scope="class")
    @staticmethod
    def slots() -> Slots:
        return slots_of(Counting(), sample())

    def test_inputs_go_into_the_slots_of_their_names(self, slots: Slots) -> None:
        given = sample(2.0)
        bound = slots.bind({name: given[name] for name in ("written", "x", "flag")})
        assert bound[0].equal(given["x"])
        assert bound[1:2] == [True]
        assert bound[2].equal(given["written"])

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"x": None}, "slot 'x' takes a tensor and is given None"),
            ({"flag": False}, "slot 'flag' holds True and is given False"),
            ({"flag": 1}, "slot 'flag' holds True and is given 1"),
            ({"x": torch.zeros(2, 4)}, r"slot 'x' takes \(2, 3\) and is given \(2, 4\)"),
            ({"x": torch.zeros(2, 3).double()}, "slot 'x' takes torch.float32 and is given"),
            ({"other": torch.zeros(1)}, "input 'other' has no slot; there are: "),
        ],
    )
    def test_what_does_not_fit_is_an_error_that_names_the_slot(
        self, slots: Slots, change: dict[str, Any], told: str
    ) -> None:
        with pytest.raises(SlotError, match=told):
            slots.bind({**sample(), **change})

    def test_a_slot_without_an_input_is_an_error(self, slots: Slots) -> None:
        given = sample()
        del given["written"]
        with pytest.raises(SlotError, match="slot 'written' has no input of its name"):
            slots.bind(given)

    def test_a_name_that_a_copy_of_the_graph_has_changed_is_found(self) -> None:
        class Named(nn.Module):
            def forward(self, input: torch.Tensor) -> torch.Tensor:
                return input + 1

        given = {"input": torch.ones(2)}
        slots = slots_of(Named(), given)
        assert slots.bind(given) == [given["input"]]
        slots.inputs = (InputSlot("input_1", slots.inputs[0].traced),)  # as ExecuTorch has it
        assert slots.bind(given) == [given["input"]]

    def test_user_outputs_are_told_from_what_was_changed(self, slots: Slots) -> None:
        # As the runtime gives them: the changed input first, and of the buffer nothing.
        assert slots.user_outputs(["written", "b", None, "a"]) == ["b", None, "a"]

    def test_another_number_of_outputs_is_an_error(self, slots: Slots) -> None:
        with pytest.raises(SlotError, match="gives 3 outputs and declares 4"):
            slots.user_outputs(["b", None, "a"])


def _told_while(line: str, error: Exception) -> None:
    """What the runtime does: it writes to the standard error of the process, and raises."""
    with limits_told():
        os.write(2, line.encode())
        raise error


class TestLimits:
    """Messages and logs are those of ExecuTorch 1.4.1."""

    @pytest.mark.parametrize(
        ("message", "log", "told"),
        [
            (
                "Failed to load method forward, error: 0x:14",
                "[method.cpp:819] Missing operator: [0] aten::polar.out\n",
                "it has no kernel of aten::polar.out (0x14)",
            ),
            (
                "Failed to load method forward, error: 0x:21",
                "",
                "it cannot allocate the planned arena (0x21)",
            ),
            (
                "method->execute() failed with error 0x1",
                "[method.cpp:1] CALL_DELEGATE execute failed at instruction 3: 0x1\n",
                "a delegate's partition fails: CALL_DELEGATE execute failed at instruction 3: 0x1"
                " (0x1)",
            ),
            (
                "method->execute() failed with error 0x12",
                "KernelCall failed at instruction 0:7 in operator aten::add.out: 0x12\n",
                "the kernel of aten::add.out refuses an argument (0x12)",
            ),
            (
                "method->set_inputs() for method 'forward' failed with error 0x10",
                "[tensor_impl.cpp:156] Attempted to resize a bounded tensor\n",
                "it cannot resize a tensor as the program asks (0x10)",
            ),
            ("std::bad_alloc", "", "the runtime cannot allocate its memory (bad_alloc)"),
        ],
    )
    def test_each_has_its_cause(self, message: str, log: str, told: str) -> None:
        assert limit_of(RuntimeError(message), log) == told

    @pytest.mark.parametrize(
        "message",
        [
            "method->set_inputs() for method 'forward' failed with error 0x12",
            "method->execute() failed with error 0x1",
            "method->execute() failed with error 0x10",
            "method->execute() failed with error 0x20",
            "Failed to load method forward, error: 0x:23",
            "something else",
        ],
    )
    def test_the_same_code_of_anything_else_is_none(self, message: str) -> None:
        assert limit_of(RuntimeError(message), "") is None

    def test_the_log_is_read_and_still_written(self, capfd: pytest.CaptureFixture[str]) -> None:
        line = "Missing operator: [0] aten::polar.out\n"
        with pytest.raises(RuntimeLimitError, match="no kernel of aten::polar.out"):
            _told_while(line, RuntimeError("error: 0x:14"))
        assert capfd.readouterr().err == line

    def test_what_is_no_limit_passes_through(self) -> None:
        with pytest.raises(ZeroDivisionError):
            _told_while("", ZeroDivisionError())


class TestBackend:
    def test_mlx_is_here_where_the_runtime_has_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "exporters.executorch.backend._is_built_in", lambda name: name != "MLXBackend"
        )
        ExecutorchBackend().require_delegate("xnnpack")
        with pytest.raises(BackendUnavailableError, match="macOS"):
            ExecutorchBackend().require_delegate("mlx")

    @needs_executorch
    def test_what_is_built_in_is_what_the_runtime_has_registered(self) -> None:
        from executorch.runtime import Runtime

        registered = Runtime.get().backend_registry.registered_backend_names
        for delegate, name in (("xnnpack", "XnnpackBackend"), ("mlx", "MLXBackend")):
            if name in registered:
                ExecutorchBackend().require_delegate(delegate)
            else:
                with pytest.raises(BackendUnavailableError):
                    ExecutorchBackend().require_delegate(delegate)

    def test_mlx_with_a_static_cache_says_nothing(self) -> None:
        for variant in ExecutorchBackend.variants:
            told = ExecutorchBackend().not_applicable(variant)
            assert bool(told) == (variant.delegate == "mlx" and variant.static_cache)
        first = ExecutorchBackend.variants[0]
        assert first == Variant(dynamic=False, delegate="xnnpack")


class Held(ExecutorchBackend):
    """A double: what was exported before, its first leaf off by `error`."""

    def __init__(self, exported: ExportedModel, error: float) -> None:
        self._exported = exported
        self._error = error

    def export(self, model: Any, inputs: Any, options: Any) -> ExportedModel:
        return Off(self._exported, self._error)


class Off(ExportedModel):
    def __init__(self, exported: ExportedModel, error: float) -> None:
        self._exported = exported
        self._error = error

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        outputs = self._exported(inputs)
        return {**outputs, "y": outputs["y"] + self._error}

    def with_weights(self, model: nn.Module) -> ExportedModel:
        return self._exported.with_weights(model)


@needs_executorch
class TestPrograms:
    @pytest.fixture(scope="class")
    @staticmethod
    def counting() -> Iterator[ExportedModel]:
        module = Counting().eval()
        yield ExecutorchBackend().export(module, sample(), ExportOptions(runtime="xnnpack"))
        assert module.calls.item() == 0

    @pytest.fixture(scope="class")
    @staticmethod
    def growing() -> ExportedModel:
        options = ExportOptions(runtime="xnnpack", dynamic=True)
        return ExecutorchBackend().export(Growing().eval(), {"x": torch.randn(2, 3)}, options)

    def test_values_are_the_models_and_in_its_structure(self, counting: ExportedModel) -> None:
        given = sample(2.0)
        kept = given["written"].clone()
        got = counting({name: given[name] for name in ("written", "flag", "x")})
        assert compare(Counting()(**sample(2.0)), got, CLOSE).passed
        assert given["written"].equal(kept)

    def test_each_run_starts_clean_and_keeps_what_it_gave(self, counting: ExportedModel) -> None:
        first, other, again = counting(sample()), counting(sample(3.0)), counting(sample())
        assert first["b"].equal(again["b"])
        assert not first["b"].equal(other["b"])

    def test_a_slot_that_cannot_be_bound_is_an_error(self, counting: ExportedModel) -> None:
        with pytest.raises(Exception, match="written") as raised:
            counting({**sample(), "written": None})
        assert not isinstance(raised.value, RuntimeLimitError)

    def test_other_sizes_run(self, growing: ExportedModel) -> None:
        for shape in ((5, 7), (3, 2), (2, 11)):
            given = {"x": torch.randn(*shape)}
            assert compare(Growing()(**given), growing(given), CLOSE).passed

    def test_a_size_beyond_what_was_planned_is_a_limit(self, growing: ExportedModel) -> None:
        with pytest.raises(RuntimeLimitError, match=r"resize .* \(0x10\)"):
            growing({"x": torch.zeros(1_000_000, 3)})

    @pytest.mark.parametrize(("error", "outcome"), [(0.0, Outcome.PASSED), (0.1, Outcome.FAILED)])
    def test_a_perturbed_output_fails(
        self, growing: ExportedModel, error: float, outcome: Outcome
    ) -> None:
        inputs = MadeInputs(lambda g, _, batch: {"x": torch.randn(batch, 3, generator=g)})
        result = run_double(Growing(), inputs, Held(growing, error))
        assert (result.outcome, result.stage) == (outcome, "compare")

    def test_an_op_without_a_kernel_is_a_limit(self) -> None:
        given = {"x": torch.rand(2, 3)}
        options = ExportOptions(runtime="xnnpack")
        program = ExecutorchBackend().export(Polar().eval(), given, options)
        with pytest.raises(RuntimeLimitError, match=r"no kernel of aten::polar.out \(0x14\)"):
            program(given)


@needs_executorch
def test_each_axis_has_a_bound_that_its_own_tensor_gives() -> None:
    from transformers import DynamicCache

    from exporters.executorch.bounds import bounded_shapes

    cache = DynamicCache()
    cache.update(torch.ones(3, 5, 7, 2), torch.ones(3, 5, 7, 4), 0)
    inputs = {"ids": torch.ones(3, 9), "flag": True, "scale": torch.tensor(2.0), "cache": cache}
    shapes = bounded_shapes(nn.Linear(2, 2), inputs)
    bounds = {
        "ids": [axis.max for axis in shapes["ids"].values()],
        "cache": [[axis.max for axis in axes.values()] for axes in shapes["cache"]],
    }
    assert bounds == {"ids": [24, 72], "cache": [[24, 40, 56, 16], [24, 40, 56, 32]]}
    assert (shapes["flag"], shapes["scale"]) == (None, {})


class Widening(nn.Module):
    """It makes three thousand numbers of each row."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, :, None, None].expand(-1, -1, 64, 64).clone() * 2


@needs_executorch
def test_a_dynamic_program_plans_little_memory() -> None:
    backend = ExecutorchBackend()
    program = backend.export(Widening(), {"x": torch.ones(2, 3)}, ExportOptions(dynamic=True))
    planned = program.exported.program.executorch_program.execution_plan[0].non_const_buffer_sizes
    assert sum(planned) < 30e6
