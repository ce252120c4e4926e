"""The programs of docs/upstream.md die, each in a process of its own, of torch_xla alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from exporters.neuron.backend import NeuronBackend  # noqa: E402
from exporters.neuron.lowerings import LOWERINGS  # noqa: E402
from testing.isolation import Ending, ForkServer, Task  # noqa: E402
from tests.exporters.lowering_samples import SAMPLED  # noqa: E402
from tests.exporters.upstream_programs import programs  # noqa: E402

PROGRAMS = programs()
TARGET = "tests.exporters.upstream_programs:run"


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    preload = ("torch", "torch_xla", "tests.exporters.upstream_programs")
    with ForkServer(preload, NeuronBackend().environment("xla")) as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("op", PROGRAMS)
def test_a_program_is_killed(server: ForkServer, op: str) -> None:
    report = server.run(Task(TARGET, PROGRAMS[op], timeout=120))
    assert (report.ending, report.stage) == (Ending.SIGNALED, "export"), report
    assert report.signal in ("SIGABRT", "SIGSEGV")


@pytest.mark.slow
def test_a_program_on_an_input_lives(server: ForkServer) -> None:
    """The control: the op is the same, and its operand has a value."""
    code = "import torch, torch_xla\ntorch.nonzero(torch.ones(4).to(torch_xla.device()))"
    assert server.run(Task(TARGET, code, timeout=120)).ending is Ending.RESULT


def test_a_program_is_short_and_of_torch_alone() -> None:
    for code in PROGRAMS.values():
        lines = [line for line in code.splitlines() if line]
        assert 3 <= len(lines) <= 10
        modules = [line.split()[1] for line in lines if line.startswith(("import", "from"))]
        assert {module.partition(".")[0] for module in modules} <= {"torch", "torch_xla"}


# These have no number as overload, or one program stands for both.
TOLD_ELSEWHERE = {
    "aten::searchsorted.Scalar": "aten::searchsorted.Tensor",
    "aten::bucketize.Scalar": "aten::bucketize.Tensor",
    # Its kernel does not die; it fails when the graph is lowered.
    "aten::masked_scatter": None,
}


def test_every_op_that_is_lowered_here_is_told_upstream() -> None:
    told = set(PROGRAMS) | set(TOLD_ELSEWHERE)
    assert set(SAMPLED) <= told
    assert {op for op in TOLD_ELSEWHERE.values() if op} <= set(PROGRAMS) <= set(LOWERINGS)
