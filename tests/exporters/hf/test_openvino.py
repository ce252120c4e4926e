"""OpenVINO programs: states of caches, and what their values are known to get wrong."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
INSTALL = "make install ENV=export"
pytest.importorskip("openvino", reason=f"needs: {INSTALL}")
transformers = pytest.importorskip("transformers")

from exporters.base import ExportOptions, UnsupportedOutputError  # noqa: E402
from exporters.flat import InputMismatchError  # noqa: E402
from exporters.openvino import OpenVinoBackend  # noqa: E402
from exporters.openvino.program import OpenVinoModel, counts_tokens  # noqa: E402
from exporters.openvino.states import States  # noqa: E402
from exporters.tree import tensor_leaves  # noqa: E402
from testing.comparison import compare  # noqa: E402
from testing.registry.entries import Tolerance  # noqa: E402
from tests.exporters.hf.openvino_double import Request  # noqa: E402
from tests.exporters.hf.small_modules import Assigning, Caching, Wide  # noqa: E402

EXACT = Tolerance(atol=0.0, rtol=0.0)
ROUNDING = Tolerance(atol=1e-6, rtol=1e-6)


def step(seed: int, past: int = 3) -> dict[str, Any]:
    """Inputs of one step after `past` tokens."""
    generator = torch.Generator().manual_seed(seed)
    cache = transformers.DynamicCache()
    seen = torch.randn(2, 1, past, 4, generator=generator)
    cache.update(seen, seen * 3, 0)
    return {"values": torch.randn(2, 1, 1, 4, generator=generator), "cache": cache}


@pytest.fixture(scope="module")
def decoder() -> OpenVinoModel:
    exported = OpenVinoBackend().export(Caching(), step(0), ExportOptions())
    assert isinstance(exported, OpenVinoModel)
    return exported


def test_a_cache_is_folded_into_states(decoder: OpenVinoModel) -> None:
    ports = {name for port in decoder.runner.compiled_model.inputs for name in port.get_names()}
    assert not any("cache" in name for name in ports)
    assert decoder._states.names == {"cache.layers.0.keys", "cache.layers.0.values"}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_states_are_those_of_each_run(decoder: OpenVinoModel, seed: int) -> None:
    eager = Caching()(**step(seed))
    inputs = step(seed)
    found = decoder(inputs)
    assert compare(eager, found, ROUNDING).failures == ()
    assert list(tensor_leaves(found)) == list(tensor_leaves(eager))
    assert inputs["cache"].layers[0].keys.shape[2] == 3  # the run's own cache has not grown


def test_a_cache_that_counts_in_a_tensor_is_not_folded() -> None:
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    cache = transformers.StaticCache(
        transformers.LlamaConfig(**sizes, intermediate_size=8, vocab_size=8), max_cache_len=4
    )
    cache.update(torch.ones(1, 2, 1, 4), torch.ones(1, 2, 1, 4), 0)
    assert counts_tokens({"cache": cache})
    assert not counts_tokens(step(0))
    assert not counts_tokens({"values": torch.tensor(1.0)})


def test_states_of_64_bits_are_stored_in_32_and_come_back() -> None:
    states = States(Request({"input.cache.countoutput.cache.count": "int32"}))
    states.seed({"cache.count": torch.tensor([7])})
    read = states.read({"cache.count": torch.int64})
    assert read["cache.count"].tolist() == [7]
    assert read["cache.count"].dtype is torch.int64


def test_a_state_that_no_input_fills_is_refused() -> None:
    states = States(Request({"input.cache.keysoutput.cache.keys": "float32"}))
    with pytest.raises(InputMismatchError, match=r"missing: cache\.keys"):
        states.seed({"values": torch.ones(1)})


def test_a_state_of_something_else_is_refused() -> None:
    with pytest.raises(UnsupportedOutputError, match="beams is not a state of a cache"):
        States(Request({"beams": "float32"}))


# B47


def test_integers_beyond_32_bits_are_found_out_by_position() -> None:
    values = torch.tensor([[2**40, 2**40 + 1, -(2**40), -5, 0, 2**62]])
    exported = OpenVinoBackend().export(Wide(), {"values": values}, ExportOptions())
    magnitude, top = compare(Wide()(values), exported({"values": values}), EXACT).failures
    assert magnitude.startswith(f"`abs` differs at [0, 5]: 0 where eager has {2**62}")
    assert "(4 of 6 elements" in magnitude
    assert "(2 of 2 elements" in top


# B50


@pytest.mark.parametrize("how", ["scalar", "vector", "added", "rows"])
def test_assignment_through_a_mask_is_right(how: str) -> None:
    mask = torch.tensor([[True, False, True], [False, True, False]])
    inputs = {"values": torch.ones(2, 3), "mask": mask, "given": torch.arange(3.0) + 20}
    model = Assigning(how)
    exported = OpenVinoBackend().export(model, inputs, ExportOptions())
    assert compare(model(**inputs), exported(inputs), EXACT).failures == ()
