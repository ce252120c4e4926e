"""The XLA client of these tests: one CPU device, without the optimiser."""

from __future__ import annotations

import os

from exporters.neuron.backend import NeuronBackend

os.environ.update(NeuronBackend().environment("xla"))
