"""What transformers' exporters do to caches that slide, and that eager is compared like that."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from exporters import get_backend  # noqa: E402
from exporters.base import ExportOptions  # noqa: E402
from exporters.hf import has_exporters  # noqa: E402
from exporters.hf.sliding_caches import NOTE, slides  # noqa: E402
from testing.tiny import build  # noqa: E402

needs_exporters = pytest.mark.skipif(not has_exporters(), reason="transformers has no exporters")


def keys(output) -> torch.Tensor:
    return output.cache.layers[0].keys


@needs_exporters
def test_eager_keeps_what_the_program_keeps() -> None:
    subject = build("MistralModel")
    backend = get_backend("dynamo")
    inputs = subject.inputs.traced()
    program = backend.export(subject.model, inputs, ExportOptions(dynamic=False))
    with backend.caches_as_traced():
        expected = keys(subject.model(**subject.inputs.traced()))
    window = subject.model.config.sliding_window
    alone = keys(subject.model(**subject.inputs.traced()))
    assert alone.shape[-2] == window - 1 < expected.shape[-2]
    torch.testing.assert_close(keys(program(inputs)), expected)
    torch.testing.assert_close(expected[:, :, -window + 1 :], alone)
    assert NOTE in program.notes


@needs_exporters
def test_a_cache_that_does_not_slide_is_not_spoken_of() -> None:
    assert not slides(build("LlamaModel").model)


def test_without_exporters_caches_are_as_they_are() -> None:
    from transformers import cache_utils

    layer = getattr(cache_utils, "DynamicSlidingWindowLayer")  # noqa: B009
    before = layer.update
    with get_backend("dynamo").caches_as_traced():
        assert (layer.update is before) is not has_exporters()
    assert layer.update is before
