"""Lowerings on the XLA device, on placeholders: none falls back to the CPU or reads the device."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from exporters.neuron.backend import NeuronBackend  # noqa: E402
from testing.isolation import Ending, ForkServer, Task  # noqa: E402
from tests.exporters.lowering_samples import SAMPLED  # noqa: E402

MOST = 12


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    preload = (*NeuronBackend.preload, "tests.exporters.lowering_targets")
    with ForkServer(preload, NeuronBackend().environment("xla")) as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("op", SAMPLED)
def test_a_lowering_of_placeholders_reads_nothing_and_is_right(
    server: ForkServer, op: str
) -> None:
    payload = {"op": op, "most": MOST}
    report = server.run(Task("tests.exporters.lowering_targets:lower", payload, timeout=300))
    assert report.ending is Ending.RESULT, report
    assert report.result["calls"] > 0
    assert report.result["moved"] == []
    for same_shape, same_dtype, difference in report.result["errors"]:
        assert (same_shape, same_dtype) == (True, True)
        assert difference < 1e-5
