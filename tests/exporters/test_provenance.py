"""The control that proves the mechanism: an op without lowering kills by what its operand is.

The same op at the same shape traces on a model input, and dies on a parameter, on a buffer and
on what derives from both. Each trace has a process of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from exporters.neuron.backend import NeuronBackend  # noqa: E402
from testing.isolation import ChildReport, Ending, ForkServer, Task  # noqa: E402

OPS = ["aten::_weight_norm_interface", "aten::upsample_bicubic2d", "aten::im2col"]
PLACEHOLDERS = ["parameter", "buffer", "input x parameter"]


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    preload = (*NeuronBackend.preload, "tests.exporters.placeholder_targets")
    with ForkServer(preload, NeuronBackend().environment("xla")) as server:
        yield server


def traced(
    server: ForkServer, op: str, operand: str, guard: bool, lowerings: str = "off"
) -> ChildReport:
    payload = {"op": op, "operand": operand, "guard": guard, "lowerings": lowerings}
    return server.run(Task("tests.exporters.placeholder_targets:trace", payload, timeout=120))


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("guard", [False, True], ids=["unguarded", "guarded"])
def test_an_input_traces(server: ForkServer, op: str, guard: bool) -> None:
    report = traced(server, op, "input", guard)
    assert report.ending is Ending.RESULT, report
    assert [read.partition(" ")[0] for read in report.result] == ([op] if guard else [])


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("operand", PLACEHOLDERS)
def test_a_placeholder_kills_the_process(server: ForkServer, op: str, operand: str) -> None:
    report = traced(server, op, operand, guard=False)
    assert (report.ending, report.stage) == (Ending.SIGNALED, "export"), report
    assert report.signal in ("SIGABRT", "SIGSEGV")
    assert any("placeholder_targets.py" in frame.path for frame in report.stack)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("operand", PLACEHOLDERS)
def test_the_guard_names_it_instead(server: ForkServer, op: str, operand: str) -> None:
    report = traced(server, op, operand, guard=True)
    assert report.ending is Ending.ERROR, report
    assert report.error is not None
    assert report.error.kind.endswith("UnloweredOpError")
    assert report.error.message.startswith(f"{op} would read")
    kind = "buffer buffer" if operand == "buffer" else "parameter parameter"
    assert kind in report.error.message


@pytest.mark.parametrize("operand", PLACEHOLDERS)
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("guard", [False, True], ids=["unguarded", "guarded"])
def test_with_lowerings_nothing_dies(
    server: ForkServer, op: str, operand: str, guard: bool
) -> None:
    report = traced(server, op, operand, guard, "on")
    assert (report.ending, report.result) == (Ending.RESULT, []), report
