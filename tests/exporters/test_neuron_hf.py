"""The neuron backend among transformers' exporters, where both are installed."""

from __future__ import annotations

import importlib.util

import pytest

from exporters.distributions import version_of

needs = {"torch_xla": "torch_xla is not installed"}
missing = [told for name, told in needs.items() if importlib.util.find_spec(name) is None]
if int((version_of("transformers") or "0").partition(".")[0]) < 5:
    missing.append("transformers has no exporters")
pytestmark = pytest.mark.skipif(bool(missing), reason=" and ".join(missing))


def test_auto_exporter_finds_it_exports_and_runs_what_it_made() -> None:
    import torch
    from transformers.exporters.auto import AutoHfExporter

    from exporters.neuron.hf import NeuronConfig, NeuronExporter
    from testing.tiny import build

    subject = build("BertModel", seed=0)
    config = NeuronConfig(runtime="xla")
    exporter = AutoHfExporter.from_config(config)
    assert type(exporter) is NeuronExporter
    exported = exporter.export(subject.model, subject.inputs.traced(), config)
    assert exported.dtype is torch.float32
    fresh = subject.inputs.fresh(subject.inputs.families[0])
    with torch.no_grad():
        eager = subject.model(**fresh)
    got = exported(**fresh)
    assert type(got) is type(eager)
    torch.testing.assert_close(
        got.last_hidden_state, eager.last_hidden_state, atol=1e-4, rtol=1e-4
    )


def test_a_format_by_its_name_is_enough() -> None:
    from transformers.exporters.auto import AutoExportConfig, AutoHfExporter

    import exporters.neuron.hf

    stored = exporters.neuron.hf.NeuronConfig(dynamic=True).to_dict()
    config = AutoExportConfig.from_dict(stored)
    assert config == exporters.neuron.hf.NeuronConfig(dynamic=True)
    assert isinstance(AutoHfExporter.from_config(stored), exporters.neuron.hf.NeuronExporter)


def test_a_program_that_cannot_be_saved_says_so(tmp_path) -> None:
    from exporters.neuron.hf import NeuronExporter, UnsavableProgramError

    with pytest.raises(UnsavableProgramError, match="export the model again"):
        NeuronExporter.save_program(object(), tmp_path / "model.neuron")
