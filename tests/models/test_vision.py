"""Models of images."""

from __future__ import annotations

import unittest

from testing.mixin import ExportTesterMixin


class BeitExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "beit"


class ConvNextExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "convnext"


class ConvNextV2ExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "convnextv2"


class CvtExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "cvt"


class DeiTExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "deit"


class DonutSwinExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "donut-swin"


class DPTExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "dpt"


class LevitExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "levit"


class MobileNetV2ExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "mobilenet_v2"


class MobileViTExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "mobilevit"


class ResNetExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "resnet"


class SwinExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "swin"


class ViTExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "vit"


class YolosExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "yolos"
