"""The XLA client of these tests: one CPU device, without the optimiser."""

from __future__ import annotations

import os

from exporters.neuron.backend import NeuronBackend

os.environ.setdefault("PJRT_DEVICE", "CPU")
for _name, _value in NeuronBackend.environment.items():
    os.environ.setdefault(_name, _value)
