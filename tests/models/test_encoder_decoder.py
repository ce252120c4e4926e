"""Encoder-decoders of text."""

from __future__ import annotations

import unittest

from testing.mixin import ExportTesterMixin


class BartExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "bart"


class T5ExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "t5"
