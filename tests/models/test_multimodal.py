"""Models of images and text."""

from __future__ import annotations

import unittest

from testing.mixin import ExportTesterMixin


class BlipExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "blip"


class CLIPExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "clip"
