"""ONNX programs: checked, on one thread, and what their values are known to get wrong."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
INSTALL = "make install ENV=export"
onnx = pytest.importorskip("onnx", reason=f"needs: {INSTALL}")
pytest.importorskip("onnxruntime", reason=f"needs: {INSTALL}")

from exporters.base import ExportOptions  # noqa: E402
from exporters.onnx import OnnxBackend  # noqa: E402
from exporters.onnx.program import OnnxModel  # noqa: E402
from exporters.onnx.session import check  # noqa: E402
from testing.comparison import compare  # noqa: E402
from testing.registry.entries import Tolerance  # noqa: E402
from tests.exporters.hf.small_modules import Assigning, Unread, Wide  # noqa: E402

EXACT = Tolerance(atol=0.0, rtol=0.0)


def program(op: str, shape: list[int]) -> onnx.ModelProto:
    """One op on two numbers, whose result is said to have `shape`."""
    values = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, size)
        for name, size in (("x", [2]), ("y", shape))
    ]
    node = onnx.helper.make_node(op, ["x"], ["y"])
    graph = onnx.helper.make_graph([node], "graph", values[:1], values[1:])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])


def test_a_program_that_is_no_onnx_is_refused() -> None:
    with pytest.raises(onnx.checker.ValidationError, match="NoSuchOp"):
        check(program("NoSuchOp", [2]))


def test_what_only_the_full_check_finds_is_told() -> None:
    assert check(program("Relu", [2])) == ()
    (note,) = check(program("Relu", [3]))
    assert note.startswith("onnx.checker infers no shapes of it: ")


def exported(options: ExportOptions) -> OnnxModel:
    inputs = {"values": torch.randn(2, 3), "unread": torch.randn(2, 3)}
    model = OnnxBackend().export(Unread(), inputs, options)
    assert isinstance(model, OnnxModel)
    return model


def test_a_session_has_one_thread() -> None:
    options = exported(ExportOptions()).runner.session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)


@pytest.mark.parametrize("optimize", [True, False])
def test_the_optimizer_runs_unless_it_is_off(optimize: bool) -> None:
    (component,) = exported(ExportOptions(optimize=optimize)).exported.components.values()
    assert component.metadata.export_config["optimize"] is optimize


def test_inputs_that_were_pruned_from_the_graph_are_told() -> None:
    model = exported(ExportOptions())
    pruned = SimpleNamespace(get_inputs=lambda: [SimpleNamespace(name="input.values")])
    model.exported._runners = {"model": SimpleNamespace(session=pruned)}
    assert OnnxModel(model.exported, model.traced).notes == ("the program does not take unread",)


# B47


def test_integers_keep_64_bits() -> None:
    inputs = {"values": torch.tensor([[2**40, 2**40 + 1, -(2**40), -5, 0, 2**62]])}
    converted = OnnxBackend().export(Wide(), inputs, ExportOptions())
    assert compare(Wide()(**inputs), converted(inputs), EXACT).failures == ()


# B50: one verdict for each way of assigning

MASK = torch.tensor([[True, False, True], [False, True, False]])


def found_wrong(how: str) -> tuple[str, ...]:
    values = torch.arange(6.0).reshape(2, 3)
    inputs = {"values": values, "mask": MASK, "given": torch.arange(3.0) + 20}
    model = Assigning(how)
    converted = OnnxBackend().export(model, inputs, ExportOptions())
    return compare(model(**inputs), converted(inputs), EXACT).failures


@pytest.mark.parametrize("how", ["scalar", "added", "rows"])
def test_assignment_through_a_mask_is_right(how: str) -> None:
    assert found_wrong(how) == ()


def test_assignment_of_a_vector_through_a_mask_is_found_out_by_position() -> None:
    # transformers 5.24 takes the value of a place by its column, not by its rank in the mask.
    (told,) = found_wrong("vector")
    assert told.startswith("`output` differs at [0, 2]: 22 where eager has 21")
    assert "(2 of 6 elements" in told
