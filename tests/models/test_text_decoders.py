"""Decoders of text."""

from __future__ import annotations

import unittest

from testing.mixin import ExportTesterMixin


class GPT2ExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "gpt2"


class LlamaExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "llama"


class PhiExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "phi"


class Qwen2ExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "qwen2"
